import type { Archive } from '../office-files/archive.ts';
import { readXml } from '../office-files/read-xml.ts';
import { readRelationships } from '../office-files/relationships.ts';
import { damaged } from '../text/unparsable-document.ts';
import { readCellStyles } from './cell-styles.ts';
import { readSheetRows, type SheetRow } from './read-sheet.ts';
import { readSharedTexts } from './shared-texts.ts';

export interface WorkbookSheet {
  name: string;
  isHidden: boolean;
  /** The name of its part in the archive. */
  part: string;
}

export interface Workbook {
  /** The sheets of cells, in the order in which they are shown. */
  sheets: WorkbookSheet[];
  /** The sheets that are a chart. */
  chartSheets: WorkbookSheet[];
  /** The rows of a sheet that hold anything, in batches. `onPrinted`: see `readSheetRows`. Throws `UnparsableDocument` above `maxCharacters` of text. */
  rows(sheet: WorkbookSheet, maxCharacters: number, onPrinted?: (code: string) => void): AsyncGenerator<SheetRow[], undefined, undefined>;
}

/**
 * Opens an xlsx (ECMA-376, part 1, 18). Its shared texts are in memory; its sheets are read as streams. `onUnreadSymbol`: is told the font of each symbol that is left
 * out. Throws `UnparsableDocument`.
 */
export async function openWorkbook(archive: Archive, onUnreadSymbol: (font: string) => void = () => undefined): Promise<Workbook> {
  const main = (await readRelationships(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  if (!archive.has(main)) throw damaged('it has no main part');
  const relationships = await readRelationships(archive, main);
  const partOf = (wanted: string) => relationships.find(({ type }) => type === wanted)?.target ?? '';
  const { listed, isFrom1904 } = await readSheetList(archive, main);
  if (listed.length === 0) throw damaged('it names no sheet');
  const texts = await readSharedTexts(archive, partOf('sharedStrings'), onUnreadSymbol);
  const styles = await readCellStyles(archive, partOf('styles'), isFrom1904);
  const sheetsOf = (wanted: string) =>
    listed.flatMap(({ name, isHidden, id }) => {
      const found = relationships.find((relationship) => relationship.id === id && relationship.type === wanted);
      return found ? [{ name, isHidden, part: found.target }] : [];
    });
  return {
    sheets: sheetsOf('worksheet'),
    chartSheets: sheetsOf('chartsheet'),
    rows: ({ name, part }, maxCharacters, onPrinted) =>
      readSheetRows(archive.pieces(part), { name, texts, styles, maxCharacters, onPrinted, onUnreadSymbol }),
  };
}

/** Some programs name the namespace of relationships otherwise than `r`. */
const findRelationshipId = (attributes: Record<string, string>): string | undefined =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];

async function readSheetList(archive: Archive, main: string) {
  const listed: { name: string; isHidden: boolean; id: string }[] = [];
  let isFrom1904 = false;
  await readXml(archive.pieces(main), {
    open(element, attributes) {
      const { name, state = 'visible' } = attributes;
      if (element === 'workbookPr') isFrom1904 = attributes['date1904'] === '1' || attributes['date1904'] === 'true';
      const id = element === 'sheet' ? findRelationshipId(attributes) : undefined;
      if (name !== undefined && id !== undefined) listed.push({ name, isHidden: state !== 'visible', id });
    },
  });
  return { listed, isFrom1904 };
}
