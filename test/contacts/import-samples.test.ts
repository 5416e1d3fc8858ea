import { describe, expect, test } from 'vitest';
import { readContactsOf, readFixtureText } from './import-reading.ts';

describe('each kind of export gives the right people', () => {
  test('a CRM export with mark, quoted line breaks and a blank line', async () => {
    const { contacts, all } = await readContactsOf(await readFixtureText('crm-export-bom-crlf.csv'));
    expect(contacts).toEqual([
      {
        phone: '+971501234567',
        email: 'clarice@example.org',
        first_name: 'Clarice',
        last_name: 'Uzumaki',
        company: 'Globex',
        custom_fields: { notes: 'VIP, call\nafter 3pm' },
      },
      { phone: '+12123456001', email: 'dora@example.org', first_name: 'Dora "DD"', last_name: 'Reyes', company: 'Initech' },
      { phone: '+12123456002', first_name: 'Egon', custom_fields: { notes: 'no email' } },
    ]);
    expect(all.map((row) => [row.row_number, row.file_row])).toEqual([
      [1, 2],
      [2, 3],
      [3, 5],
    ]);
  });

  test('a German Excel export, where a row without mobile is called on its landline', async () => {
    const { contacts, phone_columns } = await readContactsOf(await readFixtureText('excel-semicolon-windows-1252.csv'), 'DE');
    expect(phone_columns[0]).toBe('Mobil');
    expect(contacts).toEqual([
      {
        phone: '+4915123456789',
        first_name: 'Jürgen',
        last_name: 'Müller',
        custom_fields: { telefon: expect.stringContaining('901820'), stadt: 'Köln' },
      },
      { phone: '+33142685300', first_name: 'Anaïs', last_name: 'Lefèvre', custom_fields: { stadt: 'Orléans' } },
      { phone: '+4915123456780', first_name: 'Zoë', last_name: 'Strauß', custom_fields: { stadt: 'Düsseldorf' } },
    ]);
  });

  test('a Unicode text of Excel, separated by tabs', async () => {
    const { contacts } = await readContactsOf(await readFixtureText('excel-utf16le-tab.txt'));
    expect(contacts).toEqual([
      { phone: '+81312345678', first_name: '太郎', last_name: '山田', tags: ['vip'] },
      { phone: '+12123456003', first_name: 'Seán', last_name: 'Ó Briain', tags: ['new', 'lead'] },
    ]);
  });

  test('a Google export, where a cell may hold several numbers and none is lost', async () => {
    const { contacts, phone_columns } = await readContactsOf(await readFixtureText('google-contacts.csv'));
    expect(phone_columns[0]).toBe('Phone 1 - Value');
    expect(contacts).toEqual([
      {
        phone: '+79001234567',
        email: 'ivan@example.org',
        first_name: 'Ivan',
        last_name: 'Petrov',
        company: 'Romashka',
        custom_fields: {
          e_mail_1_label: '* Home',
          phone_1_label: 'Mobile',
          phone_1_value: '+7 900 123-45-67 ::: +7 900 123-45-68',
          phone_2_label: 'Work',
          phone_2_value: '8 (495) 123-45-67',
        },
      },
      { phone: '+8613800138000', first_name: 'Mei', last_name: 'Chen', custom_fields: { phone_1_label: 'Mobile' } },
    ]);
  });

  test('duplicate and blank headers, short and long rows', async () => {
    const { contacts } = await readContactsOf(await readFixtureText('headers-duplicate-blank-ragged.csv'));
    expect(contacts).toEqual([
      { phone: '+12123456007', first_name: 'Ann', custom_fields: { column_3: 'x', name_2: 'Ann B', city: 'Rome' } },
      { phone: '+12123456008', first_name: 'Bob' },
      { phone: '+12123456009', first_name: 'Cy', custom_fields: { name_2: 'Cy C', city: 'Bern', column_6: 'extra', column_7: 'cells' } },
    ]);
  });

  test('a Shopify export, whose ids keep all their digits', async () => {
    const { contacts, phone_columns } = await readContactsOf(await readFixtureText('shopify-customers.csv'));
    expect(phone_columns[0]).toBe('Phone');
    expect(contacts).toEqual([
      {
        phone: '+12123456010',
        external_id: '7012345678901234567',
        email: 'nina@example.org',
        first_name: 'Nina',
        last_name: 'Okafor',
        tags: ['wholesale', 'vip'],
        custom_fields: {
          accepts_email_marketing: 'yes',
          default_address_phone: '+12123456010',
          total_spent: '120.50',
          total_orders: '3',
          tax_exempt: 'no',
        },
      },
      {
        phone: '+12123456011',
        external_id: '7012345678901234568',
        email: 'omar@example.org',
        first_name: 'Omar',
        last_name: 'Haddad',
        company: 'Haddad & Sons',
        custom_fields: {
          accepts_email_marketing: 'no',
          total_spent: '0.00',
          total_orders: '0',
          note: 'asked to be called\nafter Ramadan',
          tax_exempt: 'no',
        },
      },
    ]);
  });

  test('numbers that a spreadsheet damaged are refused by row, the others read', async () => {
    const { contacts, refused } = await readContactsOf(await readFixtureText('spreadsheet-damage.csv'));
    expect(contacts).toEqual([
      { phone: '+919876543210', external_id: '123', first_name: 'Bina' },
      { phone: '+919876543210', external_id: '123', first_name: 'Bina again' },
      { phone: '+12123456005', external_id: '128', first_name: 'NoPlus' },
      { phone: '+12123456006', external_id: '129', first_name: 'Fullwidth' },
    ]);
    expect(refused.map(({ file_row, phone, external_id, reason }) => [file_row, phone, external_id, reason])).toEqual([
      [2, '9.18E+11', '00123', 'scientific_notation'],
      [5, '0000000000', '124', 'all_zeros'],
      [6, 'N/A', '125', 'not_a_number'],
      [7, '-', '126', 'not_a_number'],
      [8, '+1212-345-6004 ext. 12', '127', 'phone_extension'],
    ]);
  });

  test.each([
    [
      'HubSpot',
      'Record ID,First Name,Last Name,Email,Phone Number,Mobile Phone Number,Job Title\n501,Ann,Lee,a@x.org,,+44 7911 123456,CTO\n',
      'US',
      { phone: '+447911123456', external_id: '501', email: 'a@x.org', first_name: 'Ann', last_name: 'Lee', title: 'CTO' },
    ],
    [
      'Salesforce',
      '"First Name","Last Name","Title","Account Name","Phone","Mobile","Fax","Contact ID"\n"Jo","Po","CEO","ACME","(212) 345-6001","","","0035g00000AbCdE"\n',
      'US',
      { phone: '+12123456001', external_id: '0035g00000AbCdE', first_name: 'Jo', last_name: 'Po', title: 'CEO', company: 'ACME' },
    ],
    [
      'Outlook',
      "Title,First Name,Last Name,Company,Job Title,Business Fax,Business Phone,Mobile Phone,Assistant's Phone,E-mail Address,Categories\nMr.,Jo,Po,ACME,Boss,(212) 345-6009,,(212) 345-6001,(212) 345-6008,j@x.org,VIP;Lead\n",
      'US',
      {
        phone: '+12123456001',
        email: 'j@x.org',
        first_name: 'Jo',
        last_name: 'Po',
        company: 'ACME',
        title: 'Boss',
        tags: ['VIP', 'Lead'],
        custom_fields: { title_column: 'Mr.', business_fax: '(212) 345-6009', assistant_s_phone: '(212) 345-6008' },
      },
    ],
    [
      'Facebook',
      'id\tfull_name\tphone_number\temail\nl:123\tAnn Lee\tp:+12123456001\ta@x.org\n',
      'US',
      { phone: '+12123456001', external_id: 'l:123', email: 'a@x.org', first_name: 'Ann', last_name: 'Lee' },
    ],
    [
      'German',
      'Name;Vorname;Telefonnummer;Kundennummer\nMüller;Jürgen;030/901820;00123\n',
      'DE',
      { phone: '+4930901820', external_id: '00123', first_name: 'Jürgen', last_name: 'Müller' },
    ],
    [
      'French',
      'Nom;Prénom;Téléphone portable;Société\nDurand;Anaïs;06 12 34 56 78;ACME\n',
      'FR',
      { phone: '+33612345678', first_name: 'Anaïs', last_name: 'Durand', company: 'ACME' },
    ],
    [
      'Spanish',
      'Nombre;Apellidos;Móvil;Correo electrónico;Puesto\nAna;García López;612 34 56 78;a@x.org;Jefa\n',
      'ES',
      { phone: '+34612345678', email: 'a@x.org', first_name: 'Ana', last_name: 'García López', title: 'Jefa' },
    ],
    [
      'Portuguese',
      'Nome;Celular;Empresa;Etiquetas\nJoão Silva;(11) 96123-4567;ACME;vip,novo\n',
      'BR',
      { phone: '+5511961234567', first_name: 'João', last_name: 'Silva', company: 'ACME', tags: ['vip', 'novo'] },
    ],
    [
      'Polish',
      'Imię;Nazwisko;Nr telefonu;Firma\nŁukasz;Wałęsa;512 345 678;ACME\n',
      'PL',
      { phone: '+48512345678', first_name: 'Łukasz', last_name: 'Wałęsa', company: 'ACME' },
    ],
    [
      'Russian',
      'ФИО;Телефон;Город\nИванов Иван;8 (495) 123-45-67;Москва\n',
      'RU',
      { phone: '+74951234567', first_name: 'Иван', last_name: 'Иванов', custom_fields: { город: 'Москва' } },
    ],
    [
      'Japanese',
      '氏名,電話番号,会社名,顧客番号\n山田 太郎,03-1234-5678,トヨタ,0012\n',
      'JP',
      { phone: '+81312345678', external_id: '0012', first_name: '太郎', last_name: '山田', company: 'トヨタ' },
    ],
    [
      'Chinese',
      '姓名,手机号码,公司\n王小明,138 0013 8000,华为\n',
      'CN',
      { phone: '+8613800138000', first_name: '王小明', company: '华为' },
    ],
  ])('%s headers', async (_, text, country, contact) => {
    expect((await readContactsOf(text, country)).contacts).toEqual([contact]);
  });
});

describe('the person of a row', () => {
  test('an unusable phone gives way to another of the row, and stays readable', async () => {
    const { contacts } = await readContactsOf('Phone,Mobile\n9.18E+11,212 345 6001\n212 345 6002,N/A\n212 345 6003,\n');
    expect(contacts).toEqual([
      { phone: '+12123456001', custom_fields: { phone_column: '9.18E+11' } },
      { phone: '+12123456002', custom_fields: { mobile: 'N/A' } },
      { phone: '+12123456003' },
    ]);
  });

  test('a bad phone refuses the row even when it has an id', async () => {
    const { contacts, refused } = await readContactsOf('phone,external_id\n123,A1\n,A2\n');
    expect(refused).toMatchObject([{ phone: '123', external_id: 'A1', reason: 'too_short', detail: expect.stringContaining('"123"') }]);
    expect(contacts).toEqual([{ external_id: 'A2' }]);
  });

  test('a row with neither phone nor id is refused', async () => {
    const { refused } = await readContactsOf('phone,external_id,name\n,,Ann\n');
    expect(refused).toMatchObject([{ file_row: 2, reason: 'no_key' }]);
  });

  test('a file without phones is known by its ids', async () => {
    expect(await readContactsOf('id,name\n007,Ann\n')).toMatchObject({
      phone_columns: [],
      contacts: [{ external_id: '007', first_name: 'Ann' }],
    });
  });

  test('ids that are placeholders or damaged do not make one contact of many people', async () => {
    const { contacts, all, refused } = await readContactsOf(
      'phone,Customer ID\n2123456001,7.01235E+18\n2123456002,7.01235E+18\n2123456003,N/A\n,-\n',
    );
    expect(contacts.map((contact) => contact.external_id)).toEqual([undefined, undefined, undefined]);
    expect(all[0]).toMatchObject({ unusable_id: '7.01235E+18', contact: { custom_fields: { customer_id: '7.01235E+18' } } });
    expect(refused).toMatchObject([{ reason: 'no_key' }]);
  });

  test('a text that is no address does not become an email', async () => {
    const { contacts } = await readContactsOf('phone,email\n2123456001,n/a\n2123456002,"Ann <a@x.org>"\n2123456003,a@x.org ::: b@x.org\n');
    expect(contacts).toEqual([
      { phone: '+12123456001', custom_fields: { email_column: 'n/a' } },
      { phone: '+12123456002', email: 'a@x.org', custom_fields: { email_column: 'Ann <a@x.org>' } },
      { phone: '+12123456003', email: 'a@x.org', custom_fields: { email_column: 'a@x.org ::: b@x.org' } },
    ]);
  });

  test('numbers stay text, and the marks that kept them so are taken off', async () => {
    const { contacts } = await readContactsOf(
      `phone,external_id,amount,note\n'2123456001,'00123,1.50,'t Hooft\n="2123456002","=""0042""",007,'=1+1\n`,
    );
    expect(contacts).toEqual([
      { phone: '+12123456001', external_id: '00123', custom_fields: { amount: '1.50', note: "'t Hooft" } },
      { phone: '+12123456002', external_id: '0042', custom_fields: { amount: '007', note: '=1+1' } },
    ]);
  });

  test('no phone and no id column: the headers found are named', async () => {
    await expect(readContactsOf('Name,City\nAnn,Rome\n')).rejects.toThrow(/"Name", "City".*Name one of them "phone"/);
    await expect(readContactsOf('Ann,+12123456001\nBob,+12123456002\n')).rejects.toThrow(/put a row of headers above it/);
  });

  test('a header alone is no contact', async () => {
    expect((await readContactsOf('phone,name\n')).all).toEqual([]);
  });
});
