import type { BooksMapping, Integration } from '../contract.ts';

/** What is still to be chosen before a data source can be read, with the call that does it; null: nothing. */
export function missingSyncConfig({
  id,
  provider,
  providerData,
  fieldMapping,
}: Pick<Integration, 'id' | 'provider' | 'providerData' | 'fieldMapping'>): string | null {
  if (provider === 'sheet')
    return providerData['sheet_url'] === undefined ? `no sheet is selected; select one with POST /integration/${id}/sheet/select` : null;
  if (providerData['organization_id'] === undefined)
    return `no books organization is selected; select one with POST /integration/${id}/books/organization`;
  const isRead = Object.values(fieldMapping as BooksMapping).some(({ direction }) => direction !== 'outbound');
  return isRead ? null : `the field mapping has no inbound or bidirectional field; give one with PUT /integration/${id}/field-mapping`;
}
