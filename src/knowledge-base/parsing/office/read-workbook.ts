import type { BlockWriter } from '../block-writer.ts';
import { maxCharacters } from '../limits.ts';
import type { ReadResult } from '../document-reader.ts';
import { damaged, tooLarge } from '../unparsable-document.ts';
import { openArchive } from './archive.ts';
import type { Archive } from './archive.ts';
import { readNumberFormats } from './number-formats.ts';
import { PackedTexts } from './packed-texts.ts';
import { readXml } from './read-xml.ts';
import { readRelationships, readTitle } from './relationships.ts';
import { readSheet } from './read-sheet.ts';

const maxSharedTexts = 1_000_000;

/** Reads the sheets of a workbook as tables: cells as formatted, formulas as their results. Hidden sheets, rows and columns are left out. */
export async function readWorkbook(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const main = (await readRelationships(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  if (!archive.has(main)) throw damaged('it has no main part');
  const relationships = await readRelationships(archive, main);
  const partOf = (wanted: string) => relationships.find(({ type }) => type === wanted)?.target ?? '';
  const { sheets, hiddenSheets, isFrom1904 } = await readSheetNames(archive, main);
  writer.warnings.add('hidden_left_out', { count: hiddenSheets });
  const texts = await readSharedTexts(archive, partOf('sharedStrings'));
  const showNumber = await readNumberFormats(archive, partOf('styles'), isFrom1904);
  for (const { name, id } of sheets) {
    const part = relationships.find((relationship) => relationship.id === id && relationship.type === 'worksheet')?.target;
    if (part === undefined) continue;
    // A single sheet "Sheet1" gets no heading.
    let heading: string | undefined = sheets.length > 1 || !/^\p{L}+ ?\d+$/u.test(name) ? name : undefined;
    const { hiddenCells, errors } = await readSheet(archive.pieces(part), { texts, showNumber }, (row) => {
      if (heading !== undefined && row.length > 0) writer.heading(1, heading);
      if (row.length > 0) heading = undefined;
      if (row.length === 0) writer.endTable();
      else writer.row(row);
    });
    writer.endTable();
    writer.warnings.add('hidden_left_out', { count: hiddenCells });
    writer.warnings.add('errors_left_out', { count: errors });
  }
  return { title: await readTitle(archive) };
}

async function readSheetNames(archive: Archive, main: string) {
  const sheets: { name: string; id: string }[] = [];
  let hiddenSheets = 0;
  let isFrom1904 = false;
  await readXml(archive.pieces(main), {
    open(element, attributes) {
      const { name, state = 'visible', 'r:id': id } = attributes;
      if (element === 'workbookPr') isFrom1904 = attributes['date1904'] === '1' || attributes['date1904'] === 'true';
      if (element === 'sheet' && state !== 'visible') hiddenSheets += 1;
      else if (element === 'sheet' && name !== undefined && id !== undefined) sheets.push({ name, id });
    },
  });
  return { sheets, hiddenSheets, isFrom1904 };
}

/** Shared texts are stored once for all cells. */
async function readSharedTexts(archive: Archive, part: string): Promise<PackedTexts> {
  const texts = new PackedTexts();
  let length = 0;
  let text = '';
  let isInText = false;
  let isSpoken = false;
  await readXml(archive.pieces(part), {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') isSpoken = true;
      else if (name === 't') isInText = !isSpoken;
    },
    text(piece) {
      if (isInText) text += piece;
    },
    close(name) {
      if (name === 't') isInText = false;
      else if (name === 'rPh') isSpoken = false;
      else if (name === 'si') {
        texts.add(text);
        length += text.length;
        if (length > maxCharacters || texts.count > maxSharedTexts) throw tooLarge('it holds too many texts');
      }
    },
  });
  return texts;
}
