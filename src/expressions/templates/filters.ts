import { filters, type FilterImplOptions } from 'liquidjs';
import { parsePhoneNumberFromString, type NumberFormat } from 'libphonenumber-js/max';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { cleanText } from '../../library/text/clean-text.ts';
import { parseIsoInstant } from '../../library/time/instants.ts';
import { isTimeZone } from '../../library/time/time-zones.ts';

type Filter = Extract<FilterImplOptions, (...parameters: never[]) => unknown>;
type FilterThis = ThisParameterType<Filter>;

const builtInDate = filters['date'] as (this: FilterThis, value: unknown, format?: unknown, zone?: unknown) => unknown;

/**
 * `{{ now | date: "%H:%M", "Europe/Berlin" }}`. It differs from the engine's filter: the word "now" is the run's clock, which is virtual in
 * a dry run, and a timestamp without offset is UTC.
 */
function date(this: FilterThis, value: unknown, format?: unknown, zone?: unknown): unknown {
  if (typeof zone === 'string' && !/^[+-]\d/.test(zone) && !isTimeZone(zone))
    throw new Error(`unknown time zone "${zone}"; use an IANA name like Europe/Berlin`);
  const moment = value === 'now' || value === 'today' ? (this.context.getSync(['now']) ?? value) : value;
  const instant = typeof moment === 'string' ? parseIsoInstant(moment) : null;
  return builtInDate.call(this, instant === null ? moment : new Date(instant), format, zone);
}

/** `{{ event.data.at | date_in_zone: "America/New_York", "%Y-%m-%d %H:%M" }}`. The default zone is the organization's. */
function dateInZone(this: FilterThis, value: unknown, zone?: unknown, format: unknown = '%Y-%m-%d %H:%M'): unknown {
  return date.call(this, value, format, zone ?? this.context.getSync(['organization', 'timezone']) ?? 'UTC');
}

const phoneFormats: Record<string, NumberFormat> = { e164: 'E.164', international: 'INTERNATIONAL', national: 'NATIONAL', uri: 'RFC3966' };

/** `{{ data.tel | phone }}` gives E.164; `phone: "national"`, "international" and "uri" other forms. A text that is no number stays as it is. */
function phone(this: FilterThis, value: unknown, form: unknown = 'e164', country?: unknown): unknown {
  const format = Object.hasOwn(phoneFormats, String(form)) ? phoneFormats[String(form)] : undefined;
  if (!format) throw new Error(`unknown phone format "${String(form)}"; use ${Object.keys(phoneFormats).join(', ')}`);
  if (value === null || value === undefined) return value;
  const home = country ?? this.context.getSync(['organization', 'default_country']);
  const reading = normalizePhone(String(value), typeof home === 'string' ? home : '');
  return 'phone' in reading ? (parsePhoneNumberFromString(reading.phone)?.format(format) ?? reading.phone) : value;
}

/** The engine's filters would throw at half a surrogate pair, which another filter may leave. */
const urlFilters = ['url_encode', 'cgi_escape', 'uri_escape'].map((name) => {
  const builtIn = filters[name] as (this: FilterThis, value: unknown) => unknown;
  return [
    name,
    function (this: FilterThis, value: unknown): unknown {
      return builtIn.call(this, typeof value === 'string' ? cleanText(value) : value);
    },
  ] as const;
});

/** Filters that are added to the engine's, or replace them. */
export const templateFilters: Record<string, FilterImplOptions> = {
  date,
  date_in_zone: dateInZone,
  phone,
  ...Object.fromEntries(urlFilters),
};
