import { sha256Hex } from '../../library/security/hash.ts';
import type { BooksData, BooksMapping, Direction, Integration, SheetData } from '../contract.ts';

/** A field of contacts, a standard one or `custom_fields.{key}`, and what it is called at the provider. */
export interface MappedField {
  field: string;
  external: string;
  direction: Direction;
}

type MappedIntegration = Pick<Integration, 'provider' | 'fieldMapping'>;

/** The columns of a sheet are all inbound. */
export const mappedFields = ({ fieldMapping }: MappedIntegration): MappedField[] =>
  Object.entries(fieldMapping as BooksMapping | Record<string, string>).map(([field, entry]) =>
    typeof entry === 'string'
      ? { field, external: entry, direction: 'inbound' }
      : { field, external: entry.external_field, direction: entry.direction },
  );

export const inboundFields = (integration: MappedIntegration): MappedField[] =>
  mappedFields(integration).filter(({ direction }) => direction !== 'outbound');

export const outboundFields = (integration: MappedIntegration): MappedField[] =>
  mappedFields(integration).filter(({ direction }) => direction !== 'inbound');

/** The list that the records' contacts are on, as long as they are there; null: none. */
export const contactListName = ({ providerData }: Pick<Integration, 'providerData'>): string | null =>
  (providerData as SheetData).contact_list_name ?? null;

/** Names what is read and how. What was read under another name says nothing of what has changed since. */
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
