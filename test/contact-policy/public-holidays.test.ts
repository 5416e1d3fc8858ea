import { expect, test } from 'vitest';
import { lastYear } from '../../src/contact-policy/public-holidays/packed.ts';
import { loadPublicHolidays } from '../../src/contact-policy/public-holidays/public-holidays.ts';

test('national public holidays are known by country and date, fixed and movable ones', async () => {
  const holidays = await loadPublicHolidays(['US', 'DE', 'IN', 'SA']);
  expect(holidays('US', '2026-07-04')).toBe('Independence Day');
  expect(holidays('US', '2027-11-25')).toBe('Thanksgiving Day');
  expect(holidays('DE', '2026-04-03')).toBe('Good Friday');
  expect(holidays('DE', '2030-10-03')).toBe('National Holiday');
  expect(holidays('IN', '2026-01-26')).toBe('Republic Day');
  expect(holidays('SA', '2026-03-20')).toMatch(/Eid/);
  expect(holidays('DE', '2026-07-04')).toBeNull();
  // A holiday of one part of a country is none of the country.
  expect(holidays('DE', '2026-06-04')).toBeNull();
});

test('a country without a calendar, and one that was not asked for, has none', async () => {
  const holidays = await loadPublicHolidays(['ZZ']);
  expect(holidays('ZZ', '2026-01-01')).toBeNull();
  expect(holidays('US', '2026-07-04')).toBeNull();
});

test('the calendars reach five years ahead; raise `lastYear` of scripts/build/pack-public-holidays.ts and run npm run generate', () => {
  expect(lastYear - new Date().getUTCFullYear()).toBeGreaterThanOrEqual(5);
});
