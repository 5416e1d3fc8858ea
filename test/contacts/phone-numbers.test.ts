import * as fc from 'fast-check';
import { getCountries, getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, test } from 'vitest';
import { isAssignable, toDialled } from '../../src/library/phone/assignable.ts';
import {
  findFirstPhone,
  hasSeveralNumbers,
  isCountryCode,
  normalizeOwnNumber,
  normalizePhone,
} from '../../src/library/phone/phone-numbers.ts';

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

  test.each([
    ['+52 1 55 1234 5678', '+52 55 1234 5678', 'MX', '55 1234 5678', '+525512345678'],
    ['+55 11 6123-4567', '+55 (11) 96123-4567', 'BR', '(11) 6123-4567', '+5511961234567'],
    ['+55 85 8812-3456', '0055 85 98812-3456', 'BR', '85 98812-3456', '+5585988123456'],
    ['+54 11 2345-6789', '+54 9 11 2345-6789', 'AR', '011 15 2345-6789', '+5491123456789'],
    ['+54 221 423 4567', 'whatsapp:+5492214234567', 'AR', '0221 423-4567', '+5492214234567'],
  ])('%s, %s and in %s %s are one person', (one, other, country, national, phone) => {
    expect([phoneOf(one), phoneOf(other), phoneOf(national, country)]).toEqual([phone, phone, phone]);
  });

  test.each([
    '521 55 1234 5678',
    '52 55 1234 5678',
    '1 55 1234 5678',
    '044 55 1234 5678',
    '045-55-1234-5678',
    '01 (55) 1234 5678',
    '+52 1 55 1234 5678',
  ])('in Mexico, %s is one person with 55 1234 5678', (text) => {
    expect(phoneOf(text, 'MX')).toBe('+525512345678');
  });

  test.each(['+52 044 55 1234 5678', '+52 (045) 55 1234 5678', '+52 01 55 1234 5678', '0052 1 55 1234 5678'])(
    '%s is one person with +52 55 1234 5678, from every country',
    (text) => {
      for (const country of ['MX', 'US', 'DE', 'JP'])
        expect(phoneOf(text.replace(/^00/, country === 'US' ? '011' : '+'), country)).toBe('+525512345678');
    },
  );

  test('landlines of Brazil and service numbers of Argentina get no digit', () => {
    expect(phoneOf('+55 11 3123-4567')).toBe('+551131234567');
    expect(phoneOf('+54 800 555 1234')).toBe('+548005551234');
  });

  test.each([
    ['+1 999 345 6001', '+19993456001'],
    ['+999123456789', '+999123456789'],
    ['+10612345678', '+10612345678'],
    ['+5108675432', '+5108675432'],
    ['+1 212 345', '+1212345'],
    ['+1 212 345 60011', '+121234560011'],
    ['+48 1234567890123', '+481234567890123'],
    ['00999 123 456 789', '+999123456789'],
    ['011 999 123 456 789', '+999123456789'],
  ])('with a country code, %s is kept, though no plan knows it, and is not assignable', (text, phone) => {
    expect(phoneOf(text)).toBe(phone);
    expect(isAssignable(phone)).toBe(false);
  });

  test('a number in national form that its country does not have is refused, with the advice to name the country', () => {
    for (const text of ['06 12 34 56 78', '0612345678', '999 345 6001']) {
      expect(normalizePhone(text, 'US')).toEqual({
        reason: 'not_of_country',
        detail: expect.stringMatching(/is not a number of US; .*\+ and the country code.*default_country/),
      });
    }
    expect(phoneOf('06 12 34 56 78', 'FR')).toBe('+33612345678');
    expect(phoneOf('011 1234567', 'DE')).not.toMatch(/^\+/);
  });

  test('a number that messages and calls come from stays as its carrier has it', () => {
    expect(normalizeOwnNumber('+54 11 4321-0987', 'US')).toEqual({ phone: '+541143210987' });
  });

  test('a person is dialled by the spelling that the plan knows', () => {
    expect(toDialled('+551161234567')).toBe('+5511961234567');
    expect(toDialled('+5491123456789')).toBe('+5491123456789');
    expect(toDialled('+999123456789')).toBeNull();
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
    ['4155550199,,123#', 'phone_extension'],
    ['415-555-0199;123#', 'phone_extension'],
    ['+14155550199,12', 'phone_extension'],
    ['+14155550199 ,, 123 ,, 4567891234#', 'phone_extension'],
    ['+14155550199,4155550198', 'several_numbers'],
    ['1-800-FLOWERS', 'letters'],
    ['+7 9оо 123-45-67', 'letters'],
    ['call 212 345 6001', 'letters'],
    ['+12123456001, +12123456002', 'several_numbers'],
    ['+12123456001 ::: +12123456002', 'several_numbers'],
    ['+12123456001\n+12123456002', 'several_numbers'],
    ['+12123456001 +12123456002', 'several_numbers'],
    ['+0407123456', 'country_unknown'],
    ['+0049 30 901820', 'country_unknown'],
    ['555-0123', 'too_short'],
    ['911', 'too_short'],
    ['+123456', 'too_short'],
    ['+1234567890123456', 'too_long'],
    ['8 (495) 123-45-67', 'too_long'],
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

  test('the detail quotes the value and names the next step', () => {
    expect(normalizePhone('9.18E+11', 'US')).toMatchObject({
      detail: expect.stringMatching(/^"9\.18E\+11" is .*format the column as text/),
    });
    expect(normalizePhone('919876543210', 'US')).toMatchObject({ detail: expect.stringMatching(/^"919876543210" .*write it with \+/) });
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
    for (const pauses of [',12', ',,123#', ';123#', '; 12', ',,,1,,2#', ',1234567890#'])
      expect(parseFirstPhone(`+12123456004${pauses}`), pauses).toBe('phone_extension');
    expect(parseFirstPhone('+12123456004,,12; +12123456005')).toBe('+12123456005');
    expect(parseFirstPhone('+12123456004, 212 345 6005')).toBe('+12123456004');
  });

  test('a cell without any usable number gives the reason of its first', () => {
    expect(parseFirstPhone('9.18E+11; N/A')).toBe('scientific_notation');
    for (const cell of ['4,91515E+12', '9,18E+11', '1,2e+11 ', '9,18E11, N/A'])
      expect(parseFirstPhone(cell), cell).toBe('scientific_notation');
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

  test('any 7 to 15 digits after a plus are kept, and stay as they are from every country', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+[1-9][0-9]{5,13}[1-9]$/), someCountry, (text, country) => {
        const once = normalizePhone(text, country);
        expect(once).toEqual({ phone: expect.stringMatching(/^\+[1-9]\d{6,14}$/) });
        expect('phone' in once && normalizePhone(once.phone, 'US')).toEqual(once);
      }),
      { numRuns: 2000 },
    );
  });

  test('the digit that Brazil, Argentina or Mexico adds makes no other person', () => {
    const eight = (first: string) => fc.stringMatching(new RegExp(`^[${first}][0-9]{7}$`));
    const pair = fc.oneof(
      fc.tuple(fc.stringMatching(/^[1-9][1-9]$/), eight('6-9')).map(([area, line]) => [`+55${area}${line}`, `+55${area}9${line}`]),
      fc.stringMatching(/^[1-3][0-9]{9}$/).map((line) => [`+54${line}`, `+549${line}`]),
      fc
        .tuple(fc.stringMatching(/^[1-9][0-9]{9}$/), fc.constantFrom('1', '01', '044', '045'))
        .map(([line, digits]) => [`+52${line}`, `+52${digits}${line}`]),
    );
    fc.assert(
      fc.property(pair, someCountry, ([one, other], country) => {
        expect(phoneOf(other!, country)).toBe(phoneOf(one!, country));
        expect(phoneOf(one!, country)).toMatch(/^\+5/);
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
        if ('phone' in reading) expect(reading.phone).toMatch(/^\+[1-9]\d{6,14}$/);
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
