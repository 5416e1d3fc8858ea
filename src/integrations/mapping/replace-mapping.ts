import type { Context } from '../../accounts/context.ts';
import { conflict } from '../../library/errors.ts';
import { booksFields } from '../../providers/apps/books-contact.ts';
import { chooseSource } from '../choose-source.ts';
import { dataSources } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { whatSyncLacks } from '../what-sync-lacks.ts';
import { checkBooksMapping, checkIsMapping, checkSheetMapping } from './check-mapping.ts';
import { externalFields, shownMapping, type ShownMapping } from './read-mapping.ts';

/** Replaces the mapping as a whole, and begins to read under it. Throws 400 naming the entry that is wrong, 409 before a sheet is selected. */
export async function replaceMapping(context: Context, id: number, mapping: unknown): Promise<ShownMapping> {
  const integration = await existingIntegration(context, id, dataSources);
  checkIsMapping(mapping);
  const isSheet = integration.provider === 'sheet';
  const lacking = isSheet ? whatSyncLacks(integration) : null;
  if (lacking !== null) throw conflict(`Columns cannot be mapped yet: ${lacking}`);
  const columns = isSheet ? await externalFields(context, integration) : [];
  const fieldMapping = isSheet ? checkSheetMapping(mapping, columns) : checkBooksMapping(mapping, booksFields);
  const changed = await chooseSource(context, integration, { fieldMapping });
  return shownMapping(context, changed, isSheet ? columns : await externalFields(context, changed));
}
