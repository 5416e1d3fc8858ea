import type { Context } from '../../context.ts';
import { booksFields } from '../../providers/apps/books-contact.ts';
import { dataSources, type BooksMapping, type Integration, type SheetData, type SheetMapping } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { openSheet } from '../sheet/open-sheet.ts';
import { listContactFields } from './contact-fields.ts';

export interface MappingView {
  field_mapping: Record<string, unknown>;
  contact_fields: string[];
  external_fields: string[];
}

/**
 * The mapping and the fields of both sides: of a sheet its current columns, none before a sheet is selected. Throws 404, 400, 403 and 502.
 */
export async function readMapping(context: Context, id: number): Promise<MappingView> {
  const integration = await existingIntegration(context, id, dataSources);
  return toMappingView(context, integration, await listExternalFields(context, integration));
}

export async function toMappingView(context: Context, integration: Integration, external: string[]): Promise<MappingView> {
  return { field_mapping: integration.fieldMapping, contact_fields: await listContactFields(context), external_fields: external };
}

export async function listExternalFields(context: Context, integration: Integration): Promise<string[]> {
  if (integration.provider === 'sheet') return listSelectedColumns(context, integration);
  const mapped = Object.values(integration.fieldMapping as BooksMapping).map(({ external_field }) => external_field);
  return [...new Set([...booksFields, ...mapped])];
}

async function listSelectedColumns(context: Context, integration: Integration): Promise<string[]> {
  const { sheet_url, sheet_name } = integration.providerData as SheetData;
  if (sheet_url === undefined) return [];
  const mapped = Object.values(integration.fieldMapping as SheetMapping);
  const { columns } = await openSheet(context, integration, { sheet_url, sheet_name }, null, mapped);
  return columns.map(({ name }) => name);
}
