import { expect, test } from 'vitest';
import { readFixtureBytes } from '../contacts/import-reading.ts';
import { briefly, sourceOf } from './source-reading.ts';

const pending = (row_number: number, phone: string, variables: Record<string, string>) => ({
  row_number,
  phone,
  state: 'pending',
  reason: null,
  variables,
});

test('a CRM export with mark, quoted line breaks and a blank line', async () => {
  const { rows, phone_column } = await sourceOf(await readFixtureBytes('crm-export-bom-crlf.csv'));
  expect(phone_column).toBe('phone_number');
  expect(rows).toEqual([
    pending(1, '+971501234567', {
      name: 'Clarice Uzumaki',
      email: 'clarice@example.org',
      company: 'Globex',
      notes: 'VIP, call\nafter 3pm',
    }),
    pending(2, '+12123456001', { name: 'Dora "DD" Reyes', email: 'dora@example.org', company: 'Initech', notes: '' }),
    pending(3, '+12123456002', { name: 'Egon', email: '', company: '', notes: 'no email' }),
  ]);
});

test("a German Excel export, where a person's mobile goes before the landline, row by row", async () => {
  const { rows, phone_column, taken } = await sourceOf(await readFixtureBytes('excel-semicolon-windows-1252.csv'), {
    default_country: 'DE',
  });
  expect(phone_column).toBe('Mobil');
  expect(taken).toEqual(['Mobil', 'Telefon', 'Mobil']);
  expect(rows.map(({ phone, variables }) => [phone, variables['vorname'], variables['telefon'] !== ''])).toEqual([
    ['+4915123456789', 'Jürgen', true],
    ['+33142685300', 'Anaïs', true],
    ['+4915123456780', 'Zoë', false],
  ]);
});

test('a Unicode text of Excel, separated by tabs', async () => {
  const { rows } = await sourceOf(await readFixtureBytes('excel-utf16le-tab.txt'));
  expect(rows).toEqual([
    pending(1, '+81312345678', { first_name: '太郎', last_name: '山田', tags: 'vip' }),
    pending(2, '+12123456003', { first_name: 'Seán', last_name: 'Ó Briain', tags: 'new,lead' }),
  ]);
});

test('a Google export, where a cell may hold several numbers', async () => {
  const { rows, phone_column } = await sourceOf(await readFixtureBytes('google-contacts.csv'));
  expect(phone_column).toBe('Phone 1 - Value');
  expect(rows).toEqual([
    pending(1, '+79001234567', {
      first_name: 'Ivan',
      middle_name: '',
      last_name: 'Petrov',
      organization_name: 'Romashka',
      labels: '* myContacts',
      e_mail_1_label: '* Home',
      e_mail_1_value: 'ivan@example.org',
      phone_1_label: 'Mobile',
      phone_1_value: '+7 900 123-45-67 ::: +7 900 123-45-68',
      phone_2_label: 'Work',
      phone_2_value: '8 (495) 123-45-67',
    }),
    pending(2, '+8613800138000', {
      first_name: 'Mei',
      middle_name: '',
      last_name: 'Chen',
      organization_name: '',
      labels: '* myContacts',
      e_mail_1_label: '',
      e_mail_1_value: '',
      phone_1_label: 'Mobile',
      phone_2_label: '',
      phone_2_value: '',
    }),
  ]);
});

test('duplicate and blank headers, short and long rows', async () => {
  const { rows, variable_names } = await sourceOf(await readFixtureBytes('headers-duplicate-blank-ragged.csv'));
  expect(variable_names).toEqual(['name', 'column_3', 'name_2', 'city', 'column_6', 'column_7']);
  expect(rows).toEqual([
    pending(1, '+12123456007', { name: 'Ann', column_3: 'x', name_2: 'Ann B', city: 'Rome' }),
    pending(2, '+12123456008', { name: 'Bob', name_2: '', city: '' }),
    pending(3, '+12123456009', { name: 'Cy', name_2: 'Cy C', city: 'Bern', column_6: 'extra', column_7: 'cells' }),
  ]);
});

test('a Shopify export, whose ids keep all their digits', async () => {
  const { rows, phone_column } = await sourceOf(await readFixtureBytes('shopify-customers.csv'));
  expect(phone_column).toBe('Phone');
  expect(rows).toEqual([
    pending(1, '+12123456010', {
      customer_id: '7012345678901234567',
      first_name: 'Nina',
      last_name: 'Okafor',
      email: 'nina@example.org',
      accepts_email_marketing: 'yes',
      default_address_company: '',
      default_address_phone: '+12123456010',
      total_spent: '120.50',
      total_orders: '3',
      note: '',
      tax_exempt: 'no',
      tags: 'wholesale, vip',
    }),
    pending(2, '+12123456011', {
      customer_id: '7012345678901234568',
      first_name: 'Omar',
      last_name: 'Haddad',
      email: 'omar@example.org',
      accepts_email_marketing: 'no',
      default_address_company: 'Haddad & Sons',
      default_address_phone: '',
      total_spent: '0.00',
      total_orders: '0',
      note: 'asked to be called\nafter Ramadan',
      tax_exempt: 'no',
      tags: '',
    }),
  ]);
});

test('numbers that a spreadsheet damaged have failed with a reason, and who is there twice is skipped', async () => {
  const { rows } = await sourceOf(await readFixtureBytes('spreadsheet-damage.csv'));
  expect(briefly(rows)).toEqual([
    ['9.18E+11', 'failed', 'scientific_notation'],
    ['+919876543210', 'pending', null],
    ['+919876543210', 'skipped', 'duplicate'],
    ['0000000000', 'failed', 'all_zeros'],
    ['N/A', 'failed', 'not_a_number'],
    ['-', 'failed', 'not_a_number'],
    ['+1212-345-6004 ext. 12', 'failed', 'phone_extension'],
    ['+12123456005', 'pending', null],
    ['+12123456006', 'pending', null],
  ]);
  expect(rows.map((row) => row.row_number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(rows[0]).toMatchObject({
    variables: { first_name: 'Arun', external_id: '00123' },
    reason: expect.stringMatching(/"9\.18E\+11" is a number that a spreadsheet has shortened.*export again$/),
  });
  expect(rows[2]?.reason).toBe('duplicate: row 2 has the same number');
});
