import type { Context } from '../../accounts/context.ts';
import { booksFields } from '../../providers/apps/books-contact.ts';
import { dataSources, type BooksMapping, type Integration, type SheetData } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { openSheet } from '../sheet/open-sheet.ts';
import { contactFields } from './contact-fields.ts';

export interface ShownMapping {
  field_mapping: Record<string, unknown>;
  contact_fields: string[];
  external_fields: string[];
}

/** The mapping, and what can be mapped to what: of a sheet the columns that it has now, none before one is selected. */
export async function readMapping(context: Context, id: number): Promise<ShownMapping> {
  const integration = await existingIntegration(context, id, dataSources);
  return shownMapping(context, integration, await externalFields(context, integration));
}

export async function shownMapping(context: Context, integration: Integration, external: string[]): Promise<ShownMapping> {
  return { field_mapping: integration.fieldMapping, contact_fields: await contactFields(context), external_fields: external };
}

export async function externalFields(context: Context, integration: Integration): Promise<string[]> {
  if (integration.provider === 'sheet') return selectedColumns(context, integration);
  const mapped = Object.values(integration.fieldMapping as BooksMapping).map(({ external_field }) => external_field);
  return [...new Set([...booksFields, ...mapped])];
}

async function selectedColumns(context: Context, integration: Integration): Promise<string[]> {
  const { sheet_url, sheet_name } = integration.providerData as SheetData;
  if (sheet_url === undefined) return [];
  const { columns } = await openSheet(context, integration, { sheet_url, sheet_name }, null);
  return columns.map(({ name }) => name);
}
