import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isServiceError } from '../../src/library/errors.ts';
import { checkBooksMapping, checkSheetMapping } from '../../src/integrations/mapping/check-mapping.ts';
import { suggestMapping } from '../../src/integrations/mapping/suggest-mapping.ts';
import { toSheetColumns } from '../../src/integrations/sheet/sheet-columns.ts';
import { booksFields } from '../../src/providers/apps/books-contact.ts';

const suggest = (headers: string[], sample: string[][] = []) => suggestMapping(toSheetColumns(headers), sample);

describe('the mapping that headers suggest', () => {
  test.each([
    [
      ['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City'],
      {
        first_name: 'Full Name',
        last_name: 'Full Name',
        phone: 'Mobile No.',
        email: 'E-mail',
        company: 'Company',
        'custom_fields.city': 'City',
      },
    ],
    [
      ['Vorname', 'Nachname', 'Telefonnummer', 'E-Mail-Adresse', 'Firma', 'Kundennummer'],
      {
        first_name: 'Vorname',
        last_name: 'Nachname',
        phone: 'Telefonnummer',
        email: 'E-Mail-Adresse',
        company: 'Firma',
        external_id: 'Kundennummer',
      },
    ],
    [
      ['Nombre', 'Apellidos', 'Teléfono', 'Correo electrónico', 'Puesto'],
      { first_name: 'Nombre', last_name: 'Apellidos', phone: 'Teléfono', email: 'Correo electrónico', title: 'Puesto' },
    ],
    [
      ['Prénom', 'Nom', 'Numéro de téléphone', 'Courriel', 'Société', 'Étiquettes'],
      { first_name: 'Prénom', last_name: 'Nom', phone: 'Numéro de téléphone', email: 'Courriel', company: 'Société', tags: 'Étiquettes' },
    ],
    [
      ['氏名', '電話番号', 'メールアドレス', '会社名'],
      { first_name: '氏名', last_name: '氏名', phone: '電話番号', email: 'メールアドレス', company: '会社名' },
    ],
    [['Имя', 'Фамилия', 'Телефон'], { first_name: 'Имя', last_name: 'Фамилия', phone: 'Телефон' }],
    [['رقم الجوال', 'Notes'], { phone: 'رقم الجوال', 'custom_fields.notes': 'Notes' }],
  ])('%j', (headers, mapping) => {
    expect(suggest(headers)).toEqual(mapping);
  });

  test('names no column twice for what is given by a repeated header, and leaves out columns without one', () => {
    expect(suggest(['Name', 'Phone', 'Name', '', 'Notes'])).toEqual({
      first_name: 'Name',
      last_name: 'Name',
      phone: 'Phone',
      'custom_fields.name_2': 'Name_2',
      'custom_fields.notes': 'Notes',
    });
  });

  test("takes the person's own phone, however well the columns are filled; the others count row by row", () => {
    const sample = [
      ['+1 212 555 0100', ''],
      ['+1 212 555 0101', ''],
    ];
    expect(suggest(['Phone', 'Mobile'], sample)).toMatchObject({ phone: 'Mobile', 'custom_fields.phone_column': 'Phone' });
  });

  test('keeps columns without a header, also right of the headers, if a cell of the sample is filled', () => {
    const sample = [
      ['+1 212 555 0100', '', 'x', ''],
      ['+1 212 555 0101', '', '', '', 'y'],
    ];
    expect(suggest(['Phone', '', 'Notes', ''], sample)).toEqual({
      phone: 'Phone',
      'custom_fields.notes': 'Notes',
      'custom_fields.column_5': 'column_5',
    });
    expect(suggest(['Phone', '', 'Notes'], [['', 'x']])).toMatchObject({ 'custom_fields.column_2': 'column_2' });
  });

  test('of an empty sheet is empty', () => {
    expect(suggest([])).toEqual({});
    expect(suggest(['', ' '])).toEqual({});
  });

  test('is always one that can be saved, once a phone or an id is among it', () => {
    const word = fc.oneof(
      fc.constantFrom('Phone', 'phone', ' Mobile ', 'ID', 'Name', 'name', '', 'Tags', 'E-mail', 'column_2'),
      fc.string({ maxLength: 130 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (headers) => {
        const columns = toSheetColumns(headers);
        const mapping = { external_id: columns[0]?.name, ...suggestMapping(columns, []) };
        fc.pre(columns.length > 0);
        expect(
          checkSheetMapping(
            mapping,
            columns.map(({ name }) => name),
          ),
        ).toEqual(mapping);
      }),
    );
  });
});

describe('the columns of a sheet', () => {
  test('have unique names: a repeated header gets a suffix, a blank one its position', () => {
    expect(toSheetColumns(['Name', ' Phone\n number ', 'name', '', 'Name', '']).map(({ name }) => name)).toEqual([
      'Name',
      'Phone number',
      'name_2',
      'column_4',
      'Name_3',
    ]);
  });
});

const reason = (check: () => unknown): string => {
  try {
    check();
  } catch (error) {
    if (isServiceError(error) && error.code === 'bad_request') return error.message;
    throw error;
  }
  return '';
};

describe('a mapping of books', () => {
  const inbound = { external_field: 'phone', direction: 'inbound' };

  test('may have every field of a contact, custom ones that do not exist yet, and custom fields of books', () => {
    const mapping = {
      phone: { external_field: 'mobile', direction: 'bidirectional' },
      email: { external_field: 'email', direction: 'outbound' },
      'custom_fields.tier': { external_field: 'cf_tier', direction: 'inbound' },
    };
    expect(checkBooksMapping(mapping, booksFields)).toEqual(mapping);
    expect(checkBooksMapping({}, booksFields)).toEqual({});
  });

  test.each([
    [{ fone: inbound }, '"fone" is no field of a contact'],
    [{ custom_fields: inbound }, '"custom_fields" is no field'],
    [{ 'custom_fields.': inbound }, '"custom_fields." is no field'],
    [{ [`custom_fields.${'k'.repeat(101)}`]: inbound }, 'is no field'],
    [{ phone: 'mobile' }, 'phone must be an object'],
    [{ phone: null }, 'phone must be an object'],
    [{ phone: { external_field: 'telephone', direction: 'inbound' } }, 'external_field of phone is "telephone"'],
    [{ phone: { direction: 'inbound' } }, 'external_field of phone is nothing'],
    [{ phone: { external_field: 'cf-x', direction: 'inbound' } }, 'external_field of phone is "cf-x"'],
    [
      { phone: { external_field: 'phone', direction: 'sideways' } },
      'direction of phone is "sideways"; use inbound, outbound, bidirectional',
    ],
    [{ phone: { external_field: 'phone' } }, 'direction of phone is nothing'],
    [
      {
        phone: { external_field: 'phone', direction: 'outbound' },
        'custom_fields.second': { external_field: 'phone', direction: 'bidirectional' },
      },
      'phone and custom_fields.second are both sent to phone',
    ],
  ])('%j is refused, and the entry is named', (mapping, words) => {
    expect(reason(() => checkBooksMapping(mapping, booksFields))).toContain(`Invalid field mapping: `);
    expect(reason(() => checkBooksMapping(mapping, booksFields))).toContain(words);
  });

  test('may read one field of books into two of a contact', () => {
    const mapping = {
      company: { external_field: 'company_name', direction: 'inbound' },
      'custom_fields.firm': { external_field: 'company_name', direction: 'outbound' },
    };
    expect(checkBooksMapping(mapping, booksFields)).toEqual(mapping);
  });
});

describe('a mapping of a sheet', () => {
  const columns = ['Full Name', 'Mobile No.', 'Id'];

  test('speaks of columns by their names, whatever blanks stand in them', () => {
    expect(checkSheetMapping({ phone: ' Mobile   No. ', first_name: 'Full Name' }, columns)).toEqual({
      phone: 'Mobile No.',
      first_name: 'Full Name',
    });
    expect(checkSheetMapping({ external_id: 'Id' }, columns)).toEqual({ external_id: 'Id' });
  });

  test('names a column right of the headers by its place, and no column within them', () => {
    const mapping = { phone: 'Mobile No.', 'custom_fields.extra': 'column_4' };
    expect(checkSheetMapping(mapping, columns)).toEqual(mapping);
    for (const wrong of ['column_3', 'column_0', 'column_04', 'column_99999', 'column_'])
      expect(reason(() => checkSheetMapping({ ...mapping, email: wrong }, columns))).toContain(`no column "${wrong}"`);
  });

  test.each([
    [{ phone: 'Phone' }, 'no column "Phone" for phone; its columns are "Full Name", "Mobile No.", "Id"'],
    [{ phone: 7 }, 'no column 7 for phone'],
    [{ phone: { external_field: 'Id', direction: 'inbound' } }, 'no column {'],
    [{ fone: 'Mobile No.' }, '"fone" is no field of a contact'],
    [{ first_name: 'Full Name' }, 'map at least one of them'],
    [{}, 'phone or external_id'],
  ])('%j is refused, and the entry is named', (mapping, words) => {
    expect(reason(() => checkSheetMapping(mapping, columns))).toContain(words);
  });

  test('of an empty sheet is refused', () => {
    expect(reason(() => checkSheetMapping({ phone: 'Phone' }, []))).toContain('its columns are none');
  });
});
