import { describe, expect, test } from 'vitest';
import { mapContactColumns } from '../../src/contacts/import/contact-columns.ts';
import { toHeaderKey, toSnakeCaseKey } from '../../src/contacts/import/header-key.ts';
import { findPhoneColumns } from '../../src/contacts/import/phone-columns.ts';
import { rankPhoneOwner } from '../../src/contacts/import/phone-owners.ts';
import { splitName } from '../../src/contacts/import/split-name.ts';

const isPhone = (header: string) => findPhoneColumns([header], []).length === 1;
const rows = (...cells: string[][]) => cells.map((row) => ({ cells: row }));

describe('phone columns', () => {
  test.each([
    'phone_number',
    'PHONE',
    'phone-number',
    'Phone No.',
    'phoneNumber',
    'number',
    'Mobile',
    'cell',
    'Cell #',
    'Contact Number',
    'contact_number',
    'Tel.',
    'Phone 1 - Value',
    'Phone 2 - Value',
    'Default Address Phone',
    'Business Phone 2',
    'Phone (Home)',
    'WhatsApp Number',
    'to_number',
    'customer_phone',
    'Telefon',
    'Tel. Nr.',
    'Mobil',
    'Handy',
    'Handy privat',
    'Direct Dial',
    'HQ Phone',
    'Firmentelefon',
    'Teléfono empresa',
    'Telefon geschäftlich',
    'Rufnummer',
    'Téléphone',
    'TELEPHONE',
    'N° de téléphone',
    'Tél. mobile',
    'teléfono',
    'Número de teléfono móvil',
    'móvil',
    'Telefone',
    'telemóvel',
    'celular',
    'Telefono',
    'Cellulare',
    'telefoon',
    'GSM',
    'Telefonszám',
    'numer telefonu',
    'Cep Telefonu',
    'τηλέφωνο',
    'телефон',
    'Номер телефона',
    'Мобильный',
    '電話',
    '携帯電話番号',
    '电话',
    '手机号码',
    '전화번호',
    '휴대폰 번호',
    'رقم الهاتف',
    'טלפון',
    'मोबाइल नंबर',
    'Số điện thoại',
  ])('%s', (header) => {
    expect(isPhone(header)).toBe(true);
  });

  test.each([
    'Phone 1 - Label',
    'Phone type',
    'Phone verified',
    'Phone Country',
    'Phone extension',
    "Assistant's Phone",
    'Business Fax',
    'Order number',
    'House number',
    'Kundennummer',
    'Contact',
    'Hotel',
    'Cellar',
    'Do not call',
    'SMS opt in',
    'Postal code',
    'CEP',
    'Name',
    '',
    '1',
    '1'.repeat(5000),
    'phonenumber'.repeat(500) + 'z',
  ])('not %s', (header) => {
    expect(isPhone(header)).toBe(false);
  });

  test("a phone that is named after the company is the company's", () => {
    const headers = ['Firmentelefon', 'Telefon geschäftlich', 'HQ Phone', 'Teléfono empresa', 'Direct Dial'];
    expect(findPhoneColumns(headers, []).slice(0, 2)).toEqual([4, 1]);
    expect(headers.map(rankPhoneOwner)).toEqual([6, 4, 6, 6, 1]);
  });

  test("the person's own phone goes before the company's, however well the columns are filled", () => {
    const headers = ['Company phone', 'Work Phone', 'Home Phone', 'Phone', 'Direct phone', 'Mobile'];
    const filled = rows(['2123456001', '2123456002', '2123456003', '', '', '']);
    expect(findPhoneColumns(headers, filled)).toEqual([5, 4, 3, 2, 1, 0]);
    expect(findPhoneColumns(['Telefon geschäftlich', 'Telefon', 'Handy privat'], [])).toEqual([2, 1, 0]);
    expect(findPhoneColumns(['work_phone', 'mobilephone'], [])).toEqual([1, 0]);
  });

  test('among equal ones the plainest word wins, then the position', () => {
    expect(findPhoneColumns(['Tel', 'Phone'], [])).toEqual([1, 0]);
    expect(findPhoneColumns(['Phone 2 - Value', 'Phone 1 - Value'], [])).toEqual([1, 0]);
  });

  test.each([
    'What is your phone number?',
    'Please enter your mobile number',
    'Best number to reach you by phone',
    'Wie lautet Ihre Telefonnummer?',
    'Quel est votre numéro de téléphone ?',
    '¿Cuál es su número de teléfono?',
    'Qual é o seu telefone?',
    'Какой у вас номер телефона?',
    'あなたの電話番号は何ですか？',
    '您的手机号码是多少？',
  ])('the question of a form: %s', (header) => {
    expect(findPhoneColumns([header, 'Your name'], rows(['+14155551007', 'Ann']))).toEqual([0]);
    expect(findPhoneColumns([header, 'Phone'], rows(['yes', '+14155551007']))).toEqual([1]);
    expect(findPhoneColumns([header, 'Your name'], rows(['yes', 'Ann'], ['no', 'Bob']))).toEqual([]);
  });

  test.each(['Do you have a phone?', 'May we call you on your phone?', 'What is your name?', 'Which phone model do you have?'])(
    'no question for a number: %s',
    (header) => {
      expect(isPhone(header)).toBe(false);
    },
  );

  test('a column called just number counts only where there is no better one', () => {
    expect(findPhoneColumns(['Number', 'Mobile'], rows(['1234567890', '']))).toEqual([1]);
    expect(findPhoneColumns(['Number', 'Name'], [])).toEqual([0]);
  });
});

describe('names and keys', () => {
  test.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    ['Lovelace, Ada', 'Ada', 'Lovelace'],
    ['Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['Ana María de la Cruz', 'Ana María', 'de la Cruz'],
    ['John Smith Jr.', 'John', 'Smith Jr.'],
    ['John Smith, Jr.', 'John', 'Smith, Jr.'],
    ['山田 太郎', '太郎', '山田'],
    ['山田　太郎', '太郎', '山田'],
    ['Egon', 'Egon', ''],
    ['van Gogh', 'van', 'Gogh'],
    ['  Ada   Lovelace ', 'Ada', 'Lovelace'],
    ['', '', ''],
  ])('"%s" is "%s" and "%s"', (name, first_name, last_name) => {
    expect(splitName(name)).toEqual({ first_name, last_name });
  });

  test('a name beside other names is what they leave over', () => {
    expect(mapContactColumns(['Name', 'Vorname'], [])).toMatchObject({ fields: { first_name: 1, last_name: 0 }, fullName: undefined });
    expect(mapContactColumns(['Nombre', 'Apellidos'], [])).toMatchObject({ fields: { first_name: 0, last_name: 1 }, fullName: undefined });
    expect(mapContactColumns(['Nombre'], [])).toMatchObject({ fields: {}, fullName: 0 });
    expect(mapContactColumns(['Full Name', 'First Name', 'Last Name'], [])).toMatchObject({
      fields: { first_name: 1, last_name: 2 },
      fullName: undefined,
    });
  });

  test('spellings of one header share a key', () => {
    expect(['Télé-Phone', 'tele_phone', ' TELE PHONE ', 'téléphone'].map(toHeaderKey)).toEqual(Array(4).fill('telephone'));
  });

  test('custom keys are clean, and keep the letters of other scripts', () => {
    expect(
      ['Default Address Phone', 'birthDate', 'Straße & Nr.', 'E-mail 1 - Label', 'город', 'メモ', '__proto__'].map(toSnakeCaseKey),
    ).toEqual(['default_address_phone', 'birth_date', 'strasse_nr', 'e_mail_1_label', 'город', 'メモ', 'proto']);
    expect(mapContactColumns(['Birth Date', 'birth-date', '???', 'Phone'], []).customKeys).toEqual([
      'birth_date',
      'birth_date_2',
      'column_3',
      'phone_column',
    ]);
  });
});
