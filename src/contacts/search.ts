import { cleanLine } from './clean-text.ts';
import { normalizePhone } from './phone-numbers.ts';

// How `contact_search` is fed is in the migration `contact_search`; what is asked of it must be written the same way.
const wordMark = '\uE000\uE000';
const shortest = 3;

export type SearchColumn = 'name' | 'phone' | 'email' | 'company';
const everywhere: SearchColumn[] = ['name', 'phone', 'email', 'company'];

/** The FTS5 expression for the organization's contacts with `text` in one of the columns; null when there is nothing to look for. */
export function contactSearchMatch(organizationId: number, text: string, columns = everywhere, defaultCountry = 'US'): string | null {
  const wanted = cleanLine(text);
  return wanted === '' ? null : `${scopeOf(organizationId)} AND (${alternatives(wanted, columns, defaultCountry).join(' OR ')})`;
}

/** The FTS5 expression for the organization's contacts with the tag, without regard to case; null when it is blank. */
export function contactTagMatch(organizationId: number, tag: string): string | null {
  const wanted = cleanLine(tag);
  // The column holds a JSON list, so that a tag in its quotes is one whole tag.
  return wanted === '' ? null : `${scopeOf(organizationId)} AND tags : ${phrase(JSON.stringify(wanted))}`;
}

/** The organization as one trigram, whose posting list holds its contacts only. */
function scopeOf(organizationId: number): string {
  const digit = (weight: number) => 19968 + (Math.floor(organizationId / weight) % 20000);
  return `scope : ${phrase(String.fromCharCode(digit(1), digit(20000), 19968 + Math.floor(organizationId / 400_000_000)))}`;
}

const phrase = (text: string) => `"${text.replaceAll('"', '""')}"`;

function alternatives(text: string, columns: SearchColumn[], defaultCountry: string): string[] {
  const searched = `{${columns.join(' ')}}`;
  // Too short for a trigram: words that begin so.
  if ([...text].length < shortest) return [`${searched} : ${phrase(wordMark + text)}`];
  const asWritten = `${searched} : ${phrase(text.replaceAll(' ', ` ${wordMark}`))}`;
  if (!columns.includes('phone')) return [asWritten];
  return [asWritten, ...phoneSpellings(text, defaultCountry).map((digits) => `phone : ${phrase(digits)}`)];
}

/** A number is stored as E.164, however it is written in the question. */
function phoneSpellings(text: string, defaultCountry: string): string[] {
  if (!/^[\d\s+()./-]+$/.test(text)) return [];
  const digits = text.replace(/\D/g, '');
  const whole = normalizePhone(text, defaultCountry);
  const spellings = new Set([digits, digits.replace(/^0+/, ''), 'phone' in whole ? whole.phone.slice(1) : digits]);
  return [...spellings].filter((spelling) => spelling.length >= shortest);
}
