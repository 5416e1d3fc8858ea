import { texts } from '../texts/english.ts';

const locale = navigator.language;

export const formatCount = (value: number): string => new Intl.NumberFormat(locale).format(value);
export const formatShare = (value: number | null): string =>
  value === null ? texts.none : new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(value);
export const formatDollars = (value: number): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumFractionDigits: value > 0 && value < 1 ? 4 : 2 }).format(
    value,
  );

export function formatDuration(seconds: number | null): string {
  if (seconds === null) return texts.none;
  const whole = Math.round(seconds);
  if (whole < 60) return texts.time.seconds(whole);
  if (whole < 3600) return texts.time.minutes(Math.floor(whole / 60), whole % 60);
  return texts.time.hours(Math.floor(whole / 3600), Math.floor((whole % 3600) / 60));
}

/** In the reader's zone, or in another one. */
export const formatMoment = (iso: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', ...(timeZone === undefined ? {} : { timeZone }) }).format(
    new Date(iso),
  );

export const readerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
