import { cleanLine } from '../../library/text/clean-text.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';

// The migration `contact_search` fills the full-text table. Queries must write words the same way.
const wordMark = '\uE000\uE000';
const minTrigramLength = 3;

type SearchColumn = 'name' | 'phone' | 'email' | 'company';
const allSearchColumns: SearchColumn[] = ['name', 'phone', 'email', 'company'];

/** The FTS5 expression for the organization's contacts with `text` in one of the columns; null for a blank text. */
export function buildContactSearchMatch(
  organizationId: number,
  text: string,
  columns = allSearchColumns,
  defaultCountry = 'US',
): string | null {
  const wanted = cleanLine(text);
  return wanted === ''
    ? null
    : `${buildScopeTerm(organizationId)} AND (${buildAlternatives(wanted, columns, defaultCountry).join(' OR ')})`;
}

/** The FTS5 expression for the organization's contacts with the tag, without regard to case; null when it is blank. */
export function buildContactTagMatch(organizationId: number, tag: string): string | null {
  const wanted = cleanLine(tag);
  // The column holds a JSON list, so that a tag in its quotes is one whole tag.
  return wanted === '' ? null : `${buildScopeTerm(organizationId)} AND tags : ${quotePhrase(JSON.stringify(wanted))}`;
}

/** The organization as one trigram, whose posting list holds its contacts only. */
function buildScopeTerm(organizationId: number): string {
  const digit = (weight: number) => 19968 + (Math.floor(organizationId / weight) % 20000);
  return `scope : ${quotePhrase(String.fromCharCode(digit(1), digit(20000), 19968 + Math.floor(organizationId / 400_000_000)))}`;
}

const quotePhrase = (text: string) => `"${text.replaceAll('"', '""')}"`;

function buildAlternatives(text: string, columns: SearchColumn[], defaultCountry: string): string[] {
  const searched = `{${columns.join(' ')}}`;
  // A text too short for a trigram matches beginnings of words.
  if ([...text].length < minTrigramLength) return [`${searched} : ${quotePhrase(wordMark + text)}`];
  const asWritten = `${searched} : ${quotePhrase(text.replaceAll(' ', ` ${wordMark}`))}`;
  if (!columns.includes('phone')) return [asWritten];
  return [asWritten, ...listPhoneSpellings(text, defaultCountry).map((digits) => `phone : ${quotePhrase(digits)}`)];
}

/** The digits of a phone number as written and as E.164, which is how numbers are stored. */
function listPhoneSpellings(text: string, defaultCountry: string): string[] {
  if (!/^[\d\s+()./-]+$/.test(text)) return [];
  const digits = text.replace(/\D/g, '');
  const whole = normalizePhone(text, defaultCountry);
  const spellings = new Set([digits, digits.replace(/^0+/, ''), 'phone' in whole ? whole.phone.slice(1) : digits]);
  return [...spellings].filter((spelling) => spelling.length >= minTrigramLength);
}
