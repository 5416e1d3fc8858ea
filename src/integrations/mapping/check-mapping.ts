import { badRequest } from '../../library/errors.ts';
import { isRecord } from '../../library/json.ts';
import { directions, type BooksMapping, type Direction, type SheetMapping } from '../contract.ts';
import { isContactField, whatContactFieldsAre } from './contact-fields.ts';

const refuse = (problem: string) => badRequest(`Invalid field mapping: ${problem}`);
const quoted = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 120);

function checkContactField(field: string): void {
  if (!isContactField(field)) throw refuse(`${quoted(field)} is no field of a contact; use ${whatContactFieldsAre}`);
}

/** Throws 400 for a mapping that is no object. */
export function checkIsMapping(mapping: unknown): asserts mapping is Record<string, unknown> {
  if (!isRecord(mapping)) throw refuse(`field_mapping must be an object with the fields of contacts as keys, and is ${quoted(mapping)}`);
}

/** `fields` of books are `known`, or custom ones. Throws 400 naming the first entry that is wrong. */
export function checkBooksMapping(mapping: unknown, known: readonly string[]): BooksMapping {
  checkIsMapping(mapping);
  const checked: BooksMapping = {};
  for (const [field, entry] of Object.entries(mapping)) {
    checkContactField(field);
    if (!isRecord(entry)) throw refuse(`${field} must be an object with external_field and direction, and is ${quoted(entry)}`);
    const { external_field, direction } = entry;
    if (typeof external_field !== 'string' || !isBooksField(external_field, known))
      throw refuse(`external_field of ${field} is ${quoted(external_field)}; use ${known.join(', ')} or a custom field (cf_...)`);
    if (!isDirection(direction)) throw refuse(`direction of ${field} is ${quoted(direction)}; use ${directions.join(', ')}`);
    const rival = Object.keys(checked).find((other) => writes(checked[other]!, external_field));
    if (rival !== undefined && direction !== 'inbound')
      throw refuse(`${rival} and ${field} are both sent to ${external_field}; make one of them inbound or give it another external_field`);
    checked[field] = { external_field, direction };
  }
  return checked;
}

const isDirection = (value: unknown): value is Direction => directions.some((direction) => direction === value);
const isBooksField = (name: string, known: readonly string[]): boolean => known.includes(name) || /^cf_\w+$/.test(name);
const writes = (entry: BooksMapping[string], externalField: string): boolean =>
  entry.external_field === externalField && entry.direction !== 'inbound';

/** `columns`: the names of the sheet's. Throws 400 naming the first entry that is wrong. */
export function checkSheetMapping(mapping: unknown, columns: readonly string[]): SheetMapping {
  checkIsMapping(mapping);
  const checked: SheetMapping = {};
  for (const [field, header] of Object.entries(mapping)) {
    checkContactField(field);
    const column = typeof header === 'string' ? columns.find((name) => name === header.trim().replace(/\s+/g, ' ')) : undefined;
    if (column === undefined)
      throw refuse(`the sheet has no column ${quoted(header)} for ${field}; its columns are ${quotedList(columns) || 'none'}`);
    checked[field] = column;
  }
  if (checked['phone'] === undefined && checked['external_id'] === undefined)
    throw refuse('rows are told apart by phone or external_id; map at least one of them to a column');
  return checked;
}

const columnsShown = 30;

function quotedList(columns: readonly string[]): string {
  const shown = columns.slice(0, columnsShown).map((column) => quoted(column));
  return shown.join(', ') + (columns.length > columnsShown ? ` and ${columns.length - columnsShown} more` : '');
}
