import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { choosePhoneColumns, chooseRowPhone } from '../../src/contacts/import/choose-phone.ts';

const headers = ['Name', 'Company phone', 'Work phone', 'Home phone', 'Direct phone', 'Mobile', 'Notes', 'Number'];
const choose = (wish: { named?: number; mapped?: number } = {}, columns = headers) =>
  choosePhoneColumns({ headers: columns, sample: [] }, wish);

describe('the phone columns of a table', () => {
  test("are found by their headers, the person's own before the company's", () => {
    expect(choose()).toEqual({ columns: [5, 4, 3, 2, 1], choice: 'found' });
    expect(choose({}, ['Name', 'Notes'])).toEqual({ columns: [], choice: 'found' });
  });

  test('may be named by an owner alone, beside one with a word for phones, if they hold nothing but numbers', () => {
    const named = ['Name', 'Work Phone', 'Mobile', 'Home', 'Office'];
    const sample = [
      { cells: ['Ada', '+1 415 555 0101', '', '', '(415) 555-0199'] },
      { cells: ['Bob', '', 'n/a', '+1 415 555 0105', '2 Main St 94107'] },
    ];
    expect(choosePhoneColumns({ headers: named, sample })).toEqual({ columns: [2, 3, 1], choice: 'found' });
    expect(choosePhoneColumns({ headers: ['Name', 'Home'], sample: [{ cells: ['Bob', '+1 415 555 0105'] }] }).columns).toEqual([]);
    expect(choosePhoneColumns({ headers: ['Phone', 'Home'], sample: [{ cells: ['+1 415 555 0105', '94107'] }] }).columns).toEqual([0]);
  });

  test.each(['Alt. phone', 'Alternate Phone', 'Phone (alt)'])('%s is one behind those of the person', (header) => {
    expect(choose({}, [header, 'Work Phone', 'Cell #']).columns).toEqual([2, 1, 0]);
  });

  test('are the mapped one and the others, if it is named by an owner alone, also without a sample', () => {
    expect(choose({ mapped: 1 }, ['Work Phone', 'Home', 'Name'])).toEqual({ columns: [1, 0], choice: 'mapped' });
    expect(choose({ mapped: 1 }, ['Name', 'Home'])).toEqual({ columns: [1], choice: 'mapped' });
  });

  test('are the mapped one and the others that are found, if it is one of these', () => {
    expect(choose({ mapped: 2 })).toEqual({ columns: [2, 5, 4, 3, 1], choice: 'mapped' });
    expect(choose({ mapped: 5 })).toEqual({ columns: [5, 4, 3, 2, 1], choice: 'mapped' });
  });

  test('are the mapped one alone, if its header is no word for phones or a worse one', () => {
    expect(choose({ mapped: 6 })).toEqual({ columns: [6], choice: 'mapped' });
    expect(choose({ mapped: 7 })).toEqual({ columns: [7], choice: 'mapped' });
    expect(choose({ mapped: 0 }, ['Shop', 'Mobile'])).toEqual({ columns: [0], choice: 'mapped' });
  });

  test('are the one that is named and no other', () => {
    expect(choose({ named: 1 })).toEqual({ columns: [1], choice: 'named' });
    expect(choose({ named: 6, mapped: 5 })).toEqual({ columns: [6], choice: 'named' });
  });

  test('name no column twice, begin with the one that is wanted, and are columns of the table', () => {
    const anyHeaders = fc.array(fc.constantFrom(...headers, 'Phone', 'Tel', '', 'What is your phone number?'), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(anyHeaders, fc.nat(), (columns, at) => {
        const mapped = at % columns.length;
        const [found, chosen] = [choose({}, columns).columns, choose({ mapped }, columns).columns];
        expect(chosen[0]).toBe(mapped);
        expect(chosen.toSorted()).toEqual(found.includes(mapped) ? found.toSorted() : [mapped]);
      }),
    );
  });
});

describe('the phone of a row', () => {
  const phoneOf = (cells: string[], columns: number[]) => chooseRowPhone(cells, columns, 'DE');

  test('is that of the first column in order whose cell holds a number that can be used', () => {
    expect(phoneOf(['030 9000001', ' ', '0170 1234567'], [2, 1, 0])).toEqual({ column: 2, phone: '+491701234567' });
    expect(phoneOf(['030 9000001', 'n/a', ''], [2, 1, 0])).toEqual({ column: 0, phone: '+49309000001' });
    expect(phoneOf(['n/a ::: 0170 1234567'], [0])).toEqual({ column: 0, phone: '+491701234567' });
  });

  test('is refused for the reason of the first filled cell, if none can be used', () => {
    expect(phoneOf(['', '12', 'n/a'], [0, 1, 2])).toMatchObject({
      column: 1,
      reason: 'too_short',
      detail: expect.stringContaining('"12"'),
    });
  });

  test('is none where the cells are empty, and where the row is shorter than its columns', () => {
    expect(phoneOf(['', '  '], [0, 1, 7])).toBeNull();
    expect(phoneOf(['0170 1234567'], [])).toBeNull();
  });
});
