import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { isMarkup, toHeaderKey } from './header-key.ts';

/** A column that is named for a table is not in it. */
export class UnknownColumn extends UnreadableFileError {}

/** The index of the column with this name, compared without case, spaces and signs; -1: there is none. */
export function locateColumn(headers: string[], name: string): number {
  const exact = headers.indexOf(name);
  const key = toHeaderKey(name);
  return exact >= 0 || key === '' ? exact : headers.findIndex((header) => toHeaderKey(header) === key);
}

/** The index of the column with this name. Throws `UnknownColumn`. */
export function findNamedColumn(headers: string[], name: string, defaultCountry: string): number {
  const column = locateColumn(headers, name);
  const shown = name.slice(0, 60);
  if (column < 0) throw new UnknownColumn(missingColumnMessage(`"${shown}"`, [shown], headers, defaultCountry));
  return column;
}

const maxShownHeaders = 30;

/** The error of a table without a matching header: the missing column, the headers, and the advice. */
export function missingColumnMessage(content: string, names: string[], headers: string[], defaultCountry: string): string {
  const shown = headers.slice(0, maxShownHeaders).map((header) => `"${header.length > 60 ? `${header.slice(0, 60)}...` : header}"`);
  const more = headers.length > maxShownHeaders ? ` and ${headers.length - maxShownHeaders} more` : '';
  const advice = isMarkup(headers[0] ?? '')
    ? 'The file seems to be a web page or XML under the name of a table; open it in a spreadsheet program and save it as .xlsx or .csv'
    : headers.some((header) => 'phone' in normalizePhone(header, defaultCountry))
      ? 'The first row seems to be a person; put a row of headers above it'
      : `Name one of them ${names.map((name) => `"${name}"`).join(' or ')}`;
  return `No column for ${content} was found. The headers are: ${shown.join(', ')}${more}. ${advice}`;
}
