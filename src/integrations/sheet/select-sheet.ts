import type { Context } from '../../context.ts';
import type { Integration, SheetMapping } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { assertMappingObject, checkSheetMapping } from '../mapping/check-mapping.ts';
import { suggestMapping } from '../mapping/suggest-mapping.ts';
import { changeSource } from '../sync/change-source.ts';
import { readSample } from './preview-sheet.ts';
import { openSheet, type OpenSheet, type SheetChoice } from './open-sheet.ts';

export interface SheetSelection extends SheetChoice {
  contact_list_name: string;
  /** Undefined: the suggested mapping. */
  field_mapping?: unknown;
}

/** Selects the sheet and the list for its contacts, and starts a sync. Throws 400 for an invalid mapping, 422, 403, 404 and 502. */
export async function selectSheet(context: Context, id: number, selection: SheetSelection): Promise<Integration> {
  const integration = await existingIntegration(context, id, ['sheet']);
  const { field_mapping: wanted } = selection;
  if (wanted !== undefined) assertMappingObject(wanted);
  const opened = await openSheet(context, integration, selection, ['body'], columnsOf(wanted));
  const columns = opened.columns.map(({ name }) => name);
  const mapping = wanted === undefined ? await buildSuggestedMapping(context, integration, opened) : checkSheetMapping(wanted, columns);
  return saveSelection(context, integration, selection, opened, mapping);
}

/** The columns that a request maps; the mapping is checked afterwards. */
const columnsOf = (mapping: Record<string, unknown> = {}): string[] =>
  Object.values(mapping).flatMap((column) => (typeof column === 'string' ? [column.trim().replace(/\s+/g, ' ')] : []));

/** Selects a file for the legacy PUT: the mapping is the suggested one; the list keeps its name, or gets that of the file. */
export async function selectFile(context: Context, integration: Integration, file: SheetChoice, place: string[]): Promise<Integration> {
  const opened = await openSheet(context, integration, file, place);
  const mapping = await buildSuggestedMapping(context, integration, opened);
  const known = integration.providerData['contact_list_name'];
  const contact_list_name = typeof known === 'string' ? known : opened.title.trim().slice(0, 200) || opened.tab.title;
  return saveSelection(context, integration, { ...file, contact_list_name }, opened, mapping);
}

async function buildSuggestedMapping(context: Context, integration: Integration, opened: OpenSheet): Promise<SheetMapping> {
  const suggested = suggestMapping(opened.columns, await readSample(context, integration, opened));
  return checkSheetMapping(
    suggested,
    opened.columns.map(({ name }) => name),
  );
}

function saveSelection(
  context: Context,
  integration: Integration,
  { sheet_url, contact_list_name }: SheetSelection,
  { tab }: OpenSheet,
  fieldMapping: SheetMapping,
): Promise<Integration> {
  const providerData = { sheet_url: sheet_url.trim(), sheet_name: tab.title, contact_list_name };
  return changeSource(context, integration, { providerData, fieldMapping });
}
