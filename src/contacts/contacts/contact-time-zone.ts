import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { LRUCache } from 'lru-cache';
import { isTimeZone, nextClockChange, wallClockAt } from '../../library/time/time-zones.ts';
import type { ContactValues } from './contact.ts';
import { findNamedTimeZone } from './named-time-zone.ts';

/** The source of a contact's time zone: a custom field such as `timezone`, the country of its phone number, or the organization. */
export type TimeZoneRule = 'contact' | 'country' | 'organization';

/**
 * The time zone of a contact: the zone that `findNamedTimeZone` finds in its custom fields; else the zone of the phone number's country, if the country has only
 * one; else the organization's zone. `now` in epoch ms.
 */
export function contactTimeZone(
  contact: Pick<ContactValues, 'phone' | 'custom_fields'> | null,
  organization: { timezone: string },
  now = Date.now(),
): { zone: string; rule: TimeZoneRule } {
  const own = contact && findNamedTimeZone(contact.custom_fields);
  if (own !== null && isTimeZone(own)) return { zone: own, rule: 'contact' };
  const country = contact?.phone ? parsePhoneNumberFromString(contact.phone)?.country : undefined;
  const only = country ? findOnlyZone(country, new Date(now).getUTCFullYear()) : null;
  return only === null ? { zone: organization.timezone, rule: 'organization' } : { zone: only, rule: 'country' };
}

const onlyZoneByCountryAndYear = new LRUCache<string, { zone: string | null }>({ max: 500 });

/** The zone of `country` (ISO 3166-1 alpha-2); null when its zones show different times in `year` or the two years after. */
function findOnlyZone(country: string, year: number): string | null {
  const key = `${country} ${year}`;
  const cached = onlyZoneByCountryAndYear.get(key);
  if (cached) return cached.zone;
  const [first, ...others] = listZones(country);
  const [from, until] = [Date.UTC(year, 0, 1), Date.UTC(year + 3, 0, 1)];
  const zone = first !== undefined && others.every((other) => haveSameClock(first, other, from, until)) ? first : null;
  onlyZoneByCountryAndYear.set(key, { zone });
  return zone;
}

/**
 * All time zones in which a person may be, at least one: the zone that `findNamedTimeZone` finds in the custom fields; else those of the
 * phone number's country that show different times; else the organization's zone. `country` is that of the number, ISO 3166-1 alpha-2.
 */
export function personTimeZones(
  phone: string,
  customFields: Record<string, unknown>,
  organization: { timezone: string },
  now: number,
): { zones: readonly string[]; country: string | null } {
  const country = parsePhoneNumberFromString(phone)?.country ?? null;
  const own = findNamedTimeZone(customFields);
  if (own !== null && isTimeZone(own)) return { zones: [own], country };
  const zones = country === null ? [] : listDifferentZones(country, new Date(now).getUTCFullYear());
  return { zones: zones.length > 0 ? zones : [organization.timezone], country };
}

const differentZonesByCountryAndYear = new LRUCache<string, string[]>({ max: 500 });

/** The zones of `country`, one of those that show the same time in `year` and the two years after. */
function listDifferentZones(country: string, year: number): string[] {
  const key = `${country} ${year}`;
  const cached = differentZonesByCountryAndYear.get(key);
  if (cached) return cached;
  const [from, until] = [Date.UTC(year - 1, 11, 1), Date.UTC(year + 3, 0, 1)];
  const zonesByClock = new Map(listZones(country).map((zone) => [describeClock(zone, from, until), zone]));
  const zones = [...zonesByClock.values()];
  differentZonesByCountryAndYear.set(key, zones);
  return zones;
}

/** The same text for zones whose clocks show the same between two moments. */
function describeClock(zone: string, from: number, until: number): string {
  const parts: number[] = [];
  for (let instant: number | null = from; instant !== null; instant = nextClockChange(zone, instant, until))
    parts.push(instant, wallClockAt(zone, instant) - instant);
  return parts.join(' ');
}

/** TypeScript does not know the method yet: https://tc39.es/ecma402/#sec-Intl.Locale.prototype.getTimeZones */
const listZones = (country: string): string[] =>
  (new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones?(): string[] | undefined }).getTimeZones?.() ?? [];

function haveSameClock(zone: string, other: string, from: number, until: number): boolean {
  for (let instant: number | null = from; instant !== null;) {
    if (wallClockAt(zone, instant) !== wallClockAt(other, instant)) return false;
    const change = nextClockChange(zone, instant, until);
    if (change !== nextClockChange(other, instant, until)) return false;
    instant = change;
  }
  return true;
}
