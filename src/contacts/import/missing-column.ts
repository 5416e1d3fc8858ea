import { normalizePhone } from '../../library/phone/phone-numbers.ts';

const maxShownHeaders = 30;

/** The sentence for a table in which no header fits: what was looked for, what is there, and what would do. */
export function missingColumnMessage(what: string, names: string[], headers: string[], defaultCountry: string): string {
  const shown = headers.slice(0, maxShownHeaders).map((header) => `"${header.length > 60 ? `${header.slice(0, 60)}...` : header}"`);
  const more = headers.length > maxShownHeaders ? ` and ${headers.length - maxShownHeaders} more` : '';
  const advice = headers.some((header) => 'phone' in normalizePhone(header, defaultCountry))
    ? 'The first row seems to be a person; put a row of headers above it'
    : `Name one of them ${names.map((name) => `"${name}"`).join(' or ')}`;
  return `No column for ${what} was found. The headers are: ${shown.join(', ')}${more}. ${advice}`;
}
