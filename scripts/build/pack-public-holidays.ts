import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Holidays from 'date-holidays';

const folder = join('src', 'contact-policy', 'public-holidays');
const firstYear = 2026;
const lastYear = 2040;
const dayMs = 86_400_000;

/** The module with the national public holidays of all countries, made from the calendars of date-holidays, and their licence. */
export function packedPublicHolidays(): [path: string, text: string][] {
  const countries = Object.keys(new Holidays().getCountries()).toSorted();
  const packed = JSON.stringify(Object.fromEntries(countries.map((country) => [country, packCountry(country)])));
  const module = [
    '// Made by scripts/build/pack-public-holidays.ts from date-holidays; see LICENSE.',
    `export const firstYear = ${firstYear};`,
    `export const lastYear = ${lastYear};`,
    `export const packed = ${JSON.stringify(packed)};`,
    '',
  ].join('\n');
  const license = join(dirname(fileURLToPath(import.meta.resolve('date-holidays/package.json'))), 'LICENSE');
  return [
    [join(folder, 'packed.ts'), module],
    [join(folder, 'LICENSE'), readFileSync(license, 'utf8')],
  ];
}

/** The days of each holiday: `MMDD` of one that is the same every year, else `YYMMDD`. */
function packCountry(country: string): Record<string, string> {
  const datesByName = new Map<string, Set<string>>();
  const calendar = new Holidays(country, { languages: 'en', types: ['public'] });
  for (let year = firstYear; year <= lastYear; year++)
    for (const { date, start, end, name } of calendar.getHolidays(year)) {
      const first = Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
      const days = Math.max(1, Math.round((end.getTime() - start.getTime()) / dayMs));
      const dates = datesByName.get(name) ?? new Set();
      for (let day = 0; day < days; day++) dates.add(new Date(first + day * dayMs).toISOString().slice(0, 10));
      datesByName.set(name, dates);
    }
  return Object.fromEntries([...datesByName].map(([name, dates]) => [name, packDates(dates)]));
}

function packDates(dates: ReadonlySet<string>): string {
  const years = Array.from({ length: lastYear - firstYear + 1 }, (_, index) => firstYear + index);
  const sorted = [...dates].toSorted();
  const everyYear = [...new Set(sorted.map((date) => date.slice(5)))].filter((day) => years.every((year) => dates.has(`${year}-${day}`)));
  const others = sorted.filter((date) => !everyYear.includes(date.slice(5)));
  return [...everyYear.map((day) => day.replace('-', '')), ...others.map((date) => date.slice(2).replaceAll('-', ''))].join(' ');
}
