import { z } from 'zod';
import { invalid } from '../google/errors.ts';
import type { SheetFile } from './files.ts';

const Rows = z.strictObject({
  range: z.strictObject({ sheetId: z.int(), dimension: z.literal('ROWS'), startIndex: z.int(), endIndex: z.int() }),
});

/** Changes of tabs: one is renamed or added, or rows of one are deleted or inserted. */
export const StructureChange = z.union([
  z.strictObject({
    updateSheetProperties: z.strictObject({
      properties: z.strictObject({ sheetId: z.int(), title: z.string() }),
      fields: z.literal('title'),
    }),
  }),
  z.strictObject({ addSheet: z.strictObject({ properties: z.strictObject({ title: z.string() }) }) }),
  z.strictObject({ deleteDimension: Rows }),
  z.strictObject({ insertDimension: Rows }),
]);

export function changeStructure(file: SheetFile, change: z.output<typeof StructureChange>): void {
  const tabOf = (sheetId: number) => {
    const tab = file.tabs.find(({ id }) => id === sheetId);
    if (tab === undefined) throw invalid(`Invalid requests[0]: No grid with id: ${sheetId}`);
    return tab;
  };
  if ('addSheet' in change) {
    const { title } = change.addSheet.properties;
    if (file.tabs.some((tab) => tab.title === title))
      throw invalid(`Invalid requests[0].addSheet: A sheet with the name "${title}" already exists.`);
    file.tabs.push({ id: Math.max(-1, ...file.tabs.map(({ id }) => id)) + 1, title, rowCount: 1_000, columnCount: 26, cells: [] });
  } else if ('deleteDimension' in change) {
    const { sheetId, startIndex, endIndex } = change.deleteDimension.range;
    tabOf(sheetId).cells.splice(startIndex, endIndex - startIndex);
  } else if ('insertDimension' in change) {
    const { sheetId, startIndex, endIndex } = change.insertDimension.range;
    const tab = tabOf(sheetId);
    tab.cells.splice(startIndex, 0, ...Array.from({ length: endIndex - startIndex }, () => []));
    tab.rowCount += endIndex - startIndex;
  } else {
    const { sheetId, title } = change.updateSheetProperties.properties;
    tabOf(sheetId).title = title;
  }
}
