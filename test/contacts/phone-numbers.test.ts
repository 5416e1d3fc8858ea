import * as fc from 'fast-check';
import { getCountries, getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, test } from 'vitest';
import { findFirstPhone, hasSeveralNumbers, isCountryCode, normalizePhone } from '../../src/library/phone/phone-numbers.ts';

const phoneOf = (text: string, country = 'US') => {
  const reading = normalizePhone(text, country);
  return 'phone' in reading ? reading.phone : reading.reason;
};
const parseFirstPhone = (cell: string, country = 'US') => {
  const reading = findFirstPhone(cell, country);
  return 'phone' in reading ? reading.phone : reading.reason;
};

describe('a number is read however it is written', () => {
  test.each([
    ['+1 (212) 345-6001', 'DE', '+12123456001'],
    ['(212) 345-6001', 'US', '+12123456001'],
    ['212.345.6001', 'US', '+12123456001'],
    ['1-212-345-6001', 'US', '+12123456001'],
    ['12123456005', 'US', '+12123456005'],
    ['+49(0)30 901820', 'US', '+4930901820'],
    ['+49 (0)30 901820', 'DE', '+4930901820'],
    ['0049 (0) 30 901820', 'US', '+4930901820'],
    ['(0)30 901820', 'DE', '+4930901820'],
    ['030/901820', 'DE', '+4930901820'],
    ['(+49) 30 901820', 'US', '+4930901820'],
    ['0033 1 42 68 53 00', 'DE', '+33142685300'],
    ['0033142685300', 'US', '+33142685300'],
    ['011 44 20 7946 0958', 'US', '+442079460958'],
    ['01144 20 7946 0958', 'DE', '+442079460958'],
    ['0011 44 20 7946 0958', 'AU', '+442079460958'],
    ['8 10 44 20 7946 0958', 'RU', '+442079460958'],
    ['8 (495) 123-45-67', 'RU', '+74951234567'],
    ['+971 50 123 4567', 'US', '+971501234567'],
    ['＋１２１２３４５６００６', 'DE', '+12123456006'],
    ['03ー1234ー5678', 'JP', '+81312345678'],
    ['٠٥٠١٢٣٤٥٦٧', 'SA', '+966501234567'],
    ['०९८७६५४३२१०', 'IN', '+919876543210'],
    ['\u202a+1\u00a0212\u2011345\u20116001\u202c', 'DE', '+12123456001'],
    ["'+919876543210", 'US', '+919876543210'],
    ['’030 901820', 'DE', '+4930901820'],
    ['="0123 456 7890"', 'GB', '+441234567890'],
    ['whatsapp:+14155238886', 'DE', '+14155238886'],
    ['tel:+1-212-345-6006', 'DE', '+12123456006'],
    ['12123456005.0', 'US', '+12123456005'],
    ['+80012345678', 'US', '+80012345678'],
  ])('%s in %s is %s', (text, country, phone) => {
    expect(normalizePhone(text, country)).toEqual({ phone });
  });

  test('the zero of an Italian number stays, in brackets or not', () => {
    expect(phoneOf('+39 (0)6 1234567')).toBe('+39061234567');
    expect(phoneOf('06 1234567', 'IT')).toBe('+39061234567');
  });

  test('011 is an area code where it is one', () => {
    expect(phoneOf('011 884 1234', 'ZA')).toBe('+27118841234');
    expect(phoneOf('011 234 5678', 'IT')).toBe('+390112345678');
  });

  test('a Mexican mobile number is one with and without the 1 that was dropped in 2019', () => {
    expect(phoneOf('+52 1 55 1234 5678')).toBe(phoneOf('+52 55 1234 5678'));
  });

  test('a number that is possible but in no known range is accepted', () => {
    expect(phoneOf('+1 999 345 6001')).toBe('+19993456001');
    expect(phoneOf('+55 11 6123-4567')).toBe('+551161234567');
  });
});

describe('a text that is no dialable number is refused with the reason', () => {
  test.each([
    ['9.18E+11', 'scientific_notation'],
    ['9,18E+11', 'scientific_notation'],
    ['4.91512E+12', 'scientific_notation'],
    ['1e11', 'scientific_notation'],
    ['0000000000', 'all_zeros'],
    ['+7 000 000-00-00', 'all_zeros'],
    ['N/A', 'not_a_number'],
    ['-', 'not_a_number'],
    ['#N/A', 'not_a_number'],
    ['+', 'not_a_number'],
    ['none', 'not_a_number'],
    ['ann@example.org', 'not_a_number'],
    ['12123456001!', 'not_a_number'],
    ['212+3456001', 'not_a_number'],
    ['', 'empty'],
    ["  ' ", 'empty'],
    ['+1212-345-6004 ext. 12', 'phone_extension'],
    ['+12123456004x12', 'phone_extension'],
    ['+1 212 345 6004 #12', 'phone_extension'],
    ['+12123456004;ext=12', 'phone_extension'],
    ['+7 495 123-45-67 доб. 12', 'phone_extension'],
    ['+81 3-1234-5678 内線12', 'phone_extension'],
    ['1-800-FLOWERS', 'letters'],
    ['+7 9оо 123-45-67', 'letters'],
    ['call 212 345 6001', 'letters'],
    ['+12123456001, +12123456002', 'several_numbers'],
    ['+12123456001 ::: +12123456002', 'several_numbers'],
    ['+12123456001\n+12123456002', 'several_numbers'],
    ['+12123456001 +12123456002', 'several_numbers'],
    ['+0407123456', 'country_unknown'],
    ['+0049 30 901820', 'country_unknown'],
    ['+999123456789', 'country_unknown'],
    ['+5108675432', 'country_missing'],
    ['555-0123', 'too_short'],
    ['+1 212 345', 'too_short'],
    ['911', 'too_short'],
    ['8 (495) 123-45-67', 'too_long'],
    ['+1 212 345 60011', 'too_long'],
    ['+48 1234567890123', 'too_long'],
  ])('%s: %s', (text, reason) => {
    expect(phoneOf(text)).toBe(reason);
  });

  test('a text of any length is refused at once', () => {
    expect(phoneOf('9 '.repeat(100_000))).toBe('too_long');
    expect(parseFirstPhone('9 '.repeat(100_000))).toBe('too_long');
  });

  test('a number without country code needs a default country', () => {
    expect(phoneOf('212 345 6001', '')).toBe('country_missing');
    expect(phoneOf('+1 212 345 6001', '')).toBe('+12123456001');
  });

  test('the plus alone does not make a national number a foreign one', () => {
    expect(phoneOf('+9876543210', 'IN')).toBe('country_missing');
    expect(phoneOf('+98 912 345 6789', 'IN')).toBe('+989123456789');
  });

  test('the detail quotes the value and names the next step', () => {
    expect(normalizePhone('9.18E+11', 'US')).toMatchObject({
      detail: expect.stringMatching(/^"9\.18E\+11" is .*format the column as text/),
    });
    expect(normalizePhone('919876543210', 'US')).toMatchObject({ detail: expect.stringMatching(/^"919876543210" .*write it with \+/) });
    expect(normalizePhone('+5108675432', 'US')).toMatchObject({ detail: expect.stringContaining('write +15108675432') });
  });
});

describe('of several numbers in a cell the first usable one is taken', () => {
  test.each([
    ['+7 900 123-45-67 ::: +7 900 123-45-68', 'US', '+79001234567'],
    ['2123456001, 2123456002', 'US', '+12123456001'],
    ['2123456001; 2123456002', 'US', '+12123456001'],
    ['2123456001/2123456002', 'US', '+12123456001'],
    ['2123456001\n2123456002', 'US', '+12123456001'],
    ['N/A ::: 2123456001', 'US', '+12123456001'],
    ['123; 2123456001', 'US', '+12123456001'],
    ['N/A / 2123456001', 'US', '+12123456001'],
    ['+1 212 345 6001 +1 212 345 6002', 'US', '+12123456001'],
    ['+12123456004 ext. 12, +12123456001', 'US', '+12123456001'],
    ['0151/23456789; 030 901820', 'DE', '+4915123456789'],
    ['05241/12345', 'DE', '+49524112345'],
    ['+49 5241/12345', 'US', '+49524112345'],
    ['0151 23456789 / 030 901820', 'DE', '+4915123456789'],
    ['919,876,543,210', 'IN', '+919876543210'],
  ])('%s in %s is %s', (cell, country, phone) => {
    expect(findFirstPhone(cell, country)).toEqual({ phone });
  });

  test('an extension behind a separator is still an extension', () => {
    expect(parseFirstPhone('+12123456004;ext=12')).toBe('phone_extension');
    expect(parseFirstPhone('+12123456004, ext. 12')).toBe('phone_extension');
  });

  test('a cell without any usable number gives the reason of its first', () => {
    expect(parseFirstPhone('9.18E+11; N/A')).toBe('scientific_notation');
    expect(parseFirstPhone('-')).toBe('not_a_number');
    expect(parseFirstPhone(' , ')).toBe('empty');
  });

  test('a cell is said to hold several numbers only when it does', () => {
    expect(hasSeveralNumbers('+12123456001 ::: +12123456002', 'US')).toBe(true);
    expect(hasSeveralNumbers('whatsapp:+12123456001', 'US')).toBe(false);
    expect(hasSeveralNumbers('030/901820', 'DE')).toBe(false);
  });
});

const fullWidth = (text: string) => text.replace(/[0-9+]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));

describe('laws', () => {
  const someCountry = fc.constantFrom(...getCountries());
  const someText = fc.oneof(
    fc.stringMatching(/^(\+|00|011|)[0-9]{4,15}$/),
    fc.stringMatching(/^\+?[1-9][0-9]{0,3}[ ./-]\(?0?\)?[0-9]{2,5}[ ./-][0-9]{3,8}$/),
  );

  test('a normalized number stays as it is', () => {
    fc.assert(
      fc.property(someText, someCountry, (text, country) => {
        const once = normalizePhone(text, country);
        fc.pre('phone' in once);
        expect(normalizePhone(once.phone, country)).toEqual(once);
      }),
      { numRuns: 2000 },
    );
  });

  test('every spelling of one number gives the same phone, in every country', () => {
    const disagreements = getCountries().flatMap((country) => {
      const example = getExampleNumber(country, examples)!;
      const international = example.formatInternational();
      const digits = example.number.slice(1);
      const spellings = [
        example.number,
        international,
        example.formatNational(),
        international.replaceAll(' ', '-'),
        international.replaceAll(' ', '\u00a0'),
        international.replaceAll(' ', '.'),
        `00${digits}`,
        `'${example.number}`,
        `whatsapp:${example.number}`,
        `="${international}"`,
        fullWidth(international),
      ];
      return spellings.filter((spelling) => phoneOf(spelling, country) !== example.number).map((spelling) => `${country}: ${spelling}`);
    });
    expect(disagreements).toEqual([]);
  });

  test('any text is answered, and a refusal always says why', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const reading = normalizePhone(text, 'US');
        if ('phone' in reading) expect(reading.phone).toMatch(/^\+[1-9]\d{5,16}$/);
        else expect(reading.detail.length).toBeGreaterThan(20);
      }),
    );
  });
});

test('country codes are two capital letters of a country with telephone numbers', () => {
  expect(['US', 'DE', 'JP'].every(isCountryCode)).toBe(true);
  expect(['us', 'ZZ', '', 'USA', 'toString', '001'].some(isCountryCode)).toBe(false);
});

test('an address book of 5,000 numbers is read in far less than the time of a request', () => {
  const numbers = Array.from({ length: 5000 }, (_, index) => `+1 (212) 34${5 + (index % 5)}-${1000 + index}`);
  for (const number of numbers.slice(0, 500)) normalizePhone(number, 'DE');
  const start = performance.now();
  for (const number of numbers) normalizePhone(number, 'DE');
  expect(performance.now() - start).toBeLessThan(1000);
});
