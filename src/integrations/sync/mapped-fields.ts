import { toCustomKey } from '../../contacts/import/contact-columns.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import type { BooksData, BooksMapping, Direction, Integration, SheetData } from '../contract.ts';
import { isContactField, toCustomField } from '../mapping/contact-fields.ts';

/** The fields whose cells may hold more, or something else. */
type RestedField = 'phone' | 'external_id' | 'email';

/** A contact field, standard or `custom_fields.{key}`, and its name at the provider. */
export interface MappedField {
  field: string;
  external: string;
  direction: Direction;
  /** It has the cell of this field where the cell is not wholly the contact's phone, id or address; no mapping names it. */
  restOf?: RestedField;
}

type MappedIntegration = Pick<Integration, 'provider' | 'fieldMapping'>;

/** The mapped fields; columns of a sheet are all inbound. */
export function mappedFields({ fieldMapping }: MappedIntegration): MappedField[] {
  const fields = Object.entries(fieldMapping as BooksMapping | Record<string, string>).map(([field, entry]): MappedField =>
    typeof entry === 'string'
      ? { field, external: entry, direction: 'inbound' }
      : { field, external: entry.external_field, direction: entry.direction },
  );
  for (const restOf of ['phone', 'external_id', 'email'] as const) fields.push(...restOfField(restOf, fields, fieldMapping[restOf]));
  return fields;
}

/**
 * Of a sheet: a phone's cell with a second number or with none, an id that tells nobody apart, and what is no e-mail address become the custom field
 * of the column's name, as in an imported file.
 */
function restOfField(restOf: RestedField, fields: MappedField[], column: unknown): MappedField[] {
  const field = typeof column === 'string' ? toCustomField(toCustomKey(column)) : '';
  const isFree = isContactField(field) && !fields.some((other) => other.field === field);
  return isFree ? [{ field, external: column as string, direction: 'inbound', restOf }] : [];
}

export const inboundFields = (integration: MappedIntegration): MappedField[] =>
  mappedFields(integration).filter(({ direction }) => direction !== 'outbound');

export const outboundFields = (integration: MappedIntegration): MappedField[] =>
  mappedFields(integration).filter(({ direction }) => direction !== 'inbound');

/** The list for the contacts of the records; null: none. */
export const contactListName = ({ providerData }: Pick<Integration, 'providerData'>): string | null =>
  (providerData as SheetData).contact_list_name ?? null;

/** A hash of the source and the mapped fields. A checkpoint with another hash says nothing about later changes. */
export function sourceFingerprint(
  integration: Pick<Integration, 'provider' | 'providerData' | 'connectionParams' | 'fieldMapping'>,
): string {
  const { sheet_url, sheet_name, contact_list_name } = integration.providerData as SheetData;
  const { organization_id } = integration.providerData as BooksData;
  const fields = inboundFields(integration)
    .map(({ field, external, direction }) => [field, external, direction])
    .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1));
  const place = [integration.connectionParams['region'], organization_id, sheet_url, sheet_name, contact_list_name];
  return sha256Hex(JSON.stringify([place, fields])).slice(0, 16);
}
