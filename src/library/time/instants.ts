import { instantFromWallClock } from './time-zones.ts';

const isoPattern = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Smaller numbers are counts or amounts, not moments: 1973 in seconds. */
const minEpochSeconds = 100_000_000;
/** Numbers below this are epoch seconds, from it on epoch milliseconds: 1973 in milliseconds, the year 5138 in seconds. */
const minEpochMilliseconds = 100_000_000_000;

/**
 * Epoch ms of an ISO 8601 date or date and time; null for anything else. Without an offset it is local time in `zone`, a bare date is
 * its midnight.
 */
export function parseIsoInstant(text: string, zone = 'UTC'): number | null {
  const match = isoPattern.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const wallClock = Date.UTC(year, month - 1, day, hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)));
  const date = new Date(wallClock);
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offset = match[8];
  return offset === undefined ? instantFromWallClock(zone, wallClock) : wallClock - offsetMs(offset);
}

function offsetMs(offset: string): number {
  if (offset.toUpperCase() === 'Z') return 0;
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (offset.startsWith('-') ? -1 : 1) * minutes * 60_000;
}

/** As `parseIsoInstant`; also accepts epoch seconds or milliseconds, as a number or as digits. */
export function parseInstant(value: unknown, zone = 'UTC'): number | null {
  if (typeof value === 'string' && !/^\d{9,14}$/.test(value)) return parseIsoInstant(value.trim(), zone);
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= minEpochSeconds && number < minEpochMilliseconds * 1000)) return null;
  return number < minEpochMilliseconds ? number * 1000 : number;
}
