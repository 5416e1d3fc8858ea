import { LRUCache } from 'lru-cache';
import { lazily } from '../../library/lazily.ts';
import { lazyModule } from '../../library/lazy-module.ts';

/** The name of the national public holiday of a country (ISO 3166-1 alpha-2) on a date (`YYYY-MM-DD`); null: the date is none. */
export type PublicHolidays = (country: string, date: string) => string | null;

/** Holidays by name, as `scripts/build/pack-public-holidays.ts` packs them. */
type PackedCountry = Record<string, string>;

const loadPacked = lazyModule(() => import('./packed.ts'));
const countries = lazily(() => new LRUCache<string, ReadonlyMap<string, string>>({ max: 300 }));

/**
 * The public holidays of these countries. A country that the calendars do not know, and a year after `lastYear` of `packed.ts`, has none. The
 * calendars are loaded when the first policy asks for them.
 */
export async function loadPublicHolidays(wanted: readonly string[]): Promise<PublicHolidays> {
  const missing = wanted.filter((country) => !countries().has(country));
  if (missing.length > 0) {
    const { packed } = await loadPacked();
    const all = JSON.parse(packed) as Record<string, PackedCountry>;
    for (const country of missing) countries().set(country, unpackCountry(all[country] ?? {}));
  }
  const found = new Map(wanted.map((country) => [country, countries().get(country)]));
  return (country, date) => {
    const names = found.get(country);
    return names?.get(date.slice(5).replace('-', '')) ?? names?.get(date.slice(2).replaceAll('-', '')) ?? null;
  };
}

/** The name of each holiday by its day: `MMDD` of one that is the same every year, else `YYMMDD`. */
const unpackCountry = (packed: PackedCountry): ReadonlyMap<string, string> =>
  new Map(Object.entries(packed).flatMap(([name, days]) => days.split(' ').map((day): [string, string] => [day, name])));
