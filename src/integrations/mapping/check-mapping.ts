import { badRequest } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import { directions, type BooksMapping, type Direction, type SheetMapping } from '../contract.ts';
import { findColumnIndex } from '../sheet/sheet-columns.ts';
import { isContactField, contactFieldsHint } from './contact-fields.ts';

const invalidMapping = (problem: string) => badRequest(`Invalid field mapping: ${problem}`);
const toQuoted = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 120);

function checkContactField(field: string): void {
  if (!isContactField(field)) throw invalidMapping(`${toQuoted(field)} is no field of a contact; use ${contactFieldsHint}`);
}

/** Throws 400 unless the mapping is an object. */
export function assertMappingObject(mapping: unknown): asserts mapping is Record<string, unknown> {
  if (!isRecord(mapping))
    throw invalidMapping(`field_mapping must be an object with the fields of contacts as keys, and is ${toQuoted(mapping)}`);
}

/** Checks a mapping to fields of books: `known` ones, or custom ones. Throws 400 naming the first invalid entry. */
export function checkBooksMapping(mapping: unknown, known: readonly string[]): BooksMapping {
  assertMappingObject(mapping);
  const checked: BooksMapping = {};
  for (const [field, entry] of Object.entries(mapping)) {
    checkContactField(field);
    if (!isRecord(entry)) throw invalidMapping(`${field} must be an object with external_field and direction, and is ${toQuoted(entry)}`);
    const { external_field, direction } = entry;
    if (typeof external_field !== 'string' || !isBooksField(external_field, known))
      throw invalidMapping(`external_field of ${field} is ${toQuoted(external_field)}; use ${known.join(', ')} or a custom field (cf_...)`);
    if (!isDirection(direction)) throw invalidMapping(`direction of ${field} is ${toQuoted(direction)}; use ${directions.join(', ')}`);
    const rival = Object.keys(checked).find((other) => writesTo(checked[other]!, external_field));
    if (rival !== undefined && direction !== 'inbound')
      throw invalidMapping(
        `${rival} and ${field} are both sent to ${external_field}; make one of them inbound or give it another external_field`,
      );
    checked[field] = { external_field, direction };
  }
  return checked;
}

const isDirection = (value: unknown): value is Direction => directions.some((direction) => direction === value);
const isBooksField = (name: string, known: readonly string[]): boolean => known.includes(name) || /^cf_\w+$/.test(name);
const writesTo = (entry: BooksMapping[string], externalField: string): boolean =>
  entry.external_field === externalField && entry.direction !== 'inbound';

/** Checks a mapping to `columns`, the names of a sheet's columns, or to places right of them. Throws 400 naming the first invalid entry. */
export function checkSheetMapping(mapping: unknown, columns: string[]): SheetMapping {
  assertMappingObject(mapping);
  const checked: SheetMapping = {};
  for (const [field, header] of Object.entries(mapping)) {
    checkContactField(field);
    const column = typeof header === 'string' ? header.trim().replace(/\s+/g, ' ') : undefined;
    if (column === undefined || findColumnIndex(columns, column) < 0)
      throw invalidMapping(`the sheet has no column ${toQuoted(header)} for ${field}; its columns are ${quotedList(columns) || 'none'}`);
    checked[field] = column;
  }
  if (checked['phone'] === undefined && checked['external_id'] === undefined)
    throw invalidMapping('rows are identified by phone or external_id; map at least one of them to a column');
  return checked;
}

const maxColumnsShown = 30;

function quotedList(columns: readonly string[]): string {
  const shown = columns.slice(0, maxColumnsShown).map((column) => toQuoted(column));
  return shown.join(', ') + (columns.length > maxColumnsShown ? ` and ${columns.length - maxColumnsShown} more` : '');
}
