import type { BooksMapping, Integration } from '../contract.ts';

/** The missing setting that a sync needs, with the request that sets it; null: nothing is missing. */
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
