import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { booksFields } from '../../providers/apps/books-contact.ts';
import { changeSource } from '../sync/change-source.ts';
import { dataSources } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { missingSyncConfig } from '../sync/missing-sync-config.ts';
import { checkBooksMapping, assertMappingObject, checkSheetMapping } from './check-mapping.ts';
import { listExternalFields, toMappingView, type MappingView } from './read-mapping.ts';

/** Replaces the whole mapping and starts a sync. Throws 404, 400 naming the invalid entry, and 409 before a sheet is selected. */
export async function replaceMapping(context: Context, id: number, mapping: unknown): Promise<MappingView> {
  const integration = await existingIntegration(context, id, dataSources);
  assertMappingObject(mapping);
  const isSheet = integration.provider === 'sheet';
  const lacking = isSheet ? missingSyncConfig(integration) : null;
  if (lacking !== null) throw conflict(`Columns cannot be mapped yet: ${lacking}`);
  const columns = isSheet ? await listExternalFields(context, integration) : [];
  const fieldMapping = isSheet ? checkSheetMapping(mapping, columns) : checkBooksMapping(mapping, booksFields);
  const changed = await changeSource(context, integration, { fieldMapping });
  return toMappingView(context, changed, isSheet ? columns : await listExternalFields(context, changed));
}
