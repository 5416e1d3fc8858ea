import { sha256Hex } from '../../library/security/hash.ts';
import type { BooksData, BooksMapping, Direction, Integration, SheetData } from '../contract.ts';

/** A contact field, standard or `custom_fields.{key}`, and its name at the provider. */
export interface MappedField {
  field: string;
  external: string;
  direction: Direction;
}

type MappedIntegration = Pick<Integration, 'provider' | 'fieldMapping'>;

/** The mapped fields; columns of a sheet are all inbound. */
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
