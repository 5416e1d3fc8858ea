import { getCountries, getExampleNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { expect, test } from 'vitest';
import { contactTimeZone } from '../../src/contacts/contacts/contact-time-zone.ts';
import { shownMinute } from '../library/zone-clocks.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 10, 20);
const organization = { timezone: 'Asia/Kathmandu' };
const zoneOf = (phone: string | null, timezone?: unknown, at = now) =>
  contactTimeZone({ phone, custom_fields: timezone === undefined ? {} : { timezone } }, organization, at);
const ofOrganization = { zone: 'Asia/Kathmandu', rule: 'organization' };

test('a zone that the custom field timezone names goes before everything else', () => {
  expect(zoneOf('+4915112345678', 'America/St_Johns')).toEqual({ zone: 'America/St_Johns', rule: 'contact' });
  expect(zoneOf(null, ' Europe/Paris ')).toEqual({ zone: 'Europe/Paris', rule: 'contact' });
});

test.each(['time_zone', 'timeZone', 'Time Zone', 'TIMEZONE', 'time-zone'])('the custom field may be called %j', (name) => {
  const named = (custom_fields: Record<string, unknown>) => contactTimeZone({ phone: '+4915112345678', custom_fields }, organization, now);
  expect(named({ [name]: 'Europe/Paris' })).toEqual({ zone: 'Europe/Paris', rule: 'contact' });
  expect(named({ [name]: 'Europe/Paris', timezone: 'Asia/Tokyo' })).toEqual({ zone: 'Asia/Tokyo', rule: 'contact' });
  expect(named({ [name]: 'Europe/Paris', timezone: ' ' })).toEqual({ zone: 'Europe/Paris', rule: 'contact' });
});

test('a custom field that names no zone is passed over', () => {
  for (const nonsense of [
    'Mars/Base',
    '+02:00',
    'contact',
    'b4d20ne',
    '',
    ' ',
    2,
    null,
    true,
    ['Europe/Paris'],
    { name: 'Europe/Paris' },
  ]) {
    expect(zoneOf('+4915112345678', nonsense)).toEqual({ zone: 'Europe/Berlin', rule: 'country' });
    expect(zoneOf(null, nonsense)).toEqual(ofOrganization);
  }
});

test("without it the phone number's country counts when its clocks all show the same", () => {
  expect(zoneOf('+4915112345678')).toEqual({ zone: 'Europe/Berlin', rule: 'country' });
  expect(zoneOf('+12425550123')).toEqual({ zone: 'America/Nassau', rule: 'country' });
  expect(zoneOf('+447400123456')).toEqual({ zone: 'Europe/London', rule: 'country' });
  expect(zoneOf('+77012345678')).toEqual({ zone: 'Asia/Almaty', rule: 'country' });
  expect(zoneOf('+77012345678', undefined, Date.UTC(2023, 5, 1))).toEqual(ofOrganization);
});

test("a country of several zones, one that nobody can name, and no number at all leave the organization's", () => {
  for (const [country, phone] of [
    ['United States', '+12125550123'],
    ['Spain with the Canary Islands', '+34612345678'],
    ['Russia', '+79161234567'],
    ['freephone of no country', '+80012345678'],
    ['a ship', '+870773111632'],
    ['Kosovo, for which no zone is listed', '+38343201234'],
  ])
    expect(zoneOf(phone!), country).toEqual(ofOrganization);
  expect(zoneOf(null)).toEqual(ofOrganization);
  expect(contactTimeZone(null, organization, now)).toEqual(ofOrganization);
});

test('in every country of the world, the zone of a number is right for everyone who lives there', () => {
  const moments = Array.from({ length: 3 * 73 }, (_, index) => Date.UTC(2026, 0, 1) + index * 5 * day);
  const shown = new Map<string, string>();
  const clockOf = (zone: string) => {
    if (!shown.has(zone)) shown.set(zone, moments.map((at) => shownMinute(zone, at)).join());
    return shown.get(zone)!;
  };
  let countries = 0;
  for (const territory of getCountries()) {
    const phone = getExampleNumber(territory, examples)!.number;
    const { country } = parsePhoneNumberFromString(phone)!;
    const zones = (new Intl.Locale(`und-${country!}`) as Intl.Locale & { getTimeZones(): string[] }).getTimeZones();
    const { zone, rule } = zoneOf(phone);
    const clocks = new Set(zones.map(clockOf));
    expect(rule, territory).toBe(clocks.size === 1 ? 'country' : 'organization');
    if (rule === 'country') expect(clockOf(zone), territory).toBe(clocks.values().next().value);
    countries += rule === 'country' ? 1 : 0;
  }
  expect(countries).toBeGreaterThan(200);
});
