import { decodeLatin1 } from '../../../library/text/decode-latin1.ts';
import { getDocumentProxy } from 'unpdf';
import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import type { BlockWriter } from '../block-writer.ts';
import { cleanLine } from '../clean-text.ts';
import { maxBlocks, maxCharacters } from '../limits.ts';
import { isPlaceholderTitle } from '../../../library/office-files/relationships.ts';
import type { ReadResult } from '../document-reader.ts';
import { damaged, passwordProtected, tooLarge } from '../../../library/text/unparsable-document.ts';
import { appendParagraphs, type PageParagraph } from './paragraphs.ts';
import { CharacterMaps } from './character-maps/character-maps.ts';
import { mayHaveDeepBookmarks } from './bookmark-depth.ts';
import { PdfObjects } from './pdf-objects.ts';
import { countFontRanges, checkFontRanges } from './font-ranges.ts';
import { decryptFile } from './encryption/decrypt-file.ts';
import { detectHeadingLevels, type Bookmark } from './headings.ts';
import { HyphenJoiner } from './hyphens.ts';
import { continueTable, maxHeaderRows } from './continued-tables.ts';
import { countAttachments } from './count-attachments.ts';
import { countImages } from './count-images.ts';
import { FormFields } from './form-fields.ts';
import { appendObjects, findFileEnd } from './file-update.ts';
import { HiddenLayers } from './hidden-layers.ts';
import { markTexts, type MarkedTexts } from './mark-texts.ts';
import { findMeanings } from './meaningless-fonts.ts';
import { hasReadableText, readPageParagraphs, readPictures } from './page-paragraphs.ts';
import { PictureDescriptions } from './picture-descriptions.ts';
import { countFontLoads, PageReader } from './page-reader.ts';
import { rejectDecompressionBombs } from './reject-decompression-bombs.ts';
import { DrawingCosts } from './drawing-cost.ts';
import { RunningLines } from './running-lines.ts';

const endMark = '%%EOF';
const endMarkSearchBytes = 4096;
const maxPages = 5000;
const noMarks: MarkedTexts = { added: [], texts: [], structured: new Map() };

/** Reads a PDF page by page, so that one page is in memory at a time. Throws `UnparsableDocument`. */
export async function readPdf(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  // The library reads the beginning of a truncated file and silently omits the rest.
  if (!decodeLatin1(bytes.subarray(-endMarkSearchBytes)).includes(endMark)) throw damaged('it is cut off');
  const file = await decryptFile(bytes, decodeLatin1(bytes));
  await rejectDecompressionBombs(bytes, file);
  const objects = await PdfObjects.read(bytes, file);
  const costs = await DrawingCosts.measure(objects, bytes.length);
  const ranges = await countFontRanges(objects);
  const hasDeepBookmarks = mayHaveDeepBookmarks(objects);
  const extras = { costs, fields: FormFields.find(objects), pictures: PictureDescriptions.find(objects) };
  writer.warnings.add('images_skipped', { count: countImages(objects) });
  writer.warnings.add('attachments_left_out', { count: countAttachments(objects) });
  const end = findFileEnd(file, objects);
  const marked = end ? await markTexts(objects, costs.markable) : noMarks;
  const added = end ? [...(await findMeanings(objects, end.next)), ...marked.added] : [];
  const pdf = await openPdf(end && added.length > 0 ? appendObjects(bytes, added, end) : bytes);
  try {
    const content = { ...marked, layers: await HiddenLayers.find(pdf, objects) };
    if (pdf.numPages > maxPages) throw tooLarge(`it has ${pdf.numPages} pages, which is more than ${maxPages}`);
    checkFontRanges(ranges, countFontLoads(pdf.numPages));
    const { paragraphs, pagesWithoutText, hiddenParts } = await readPages(pdf, { ...extras, content });
    writer.warnings.add('hidden_left_out', { count: hiddenParts });
    writer.warnings.add('characters_damaged', { count: countDamaged(paragraphs) });
    const levels = detectHeadingLevels(paragraphs, hasDeepBookmarks ? [] : await readBookmarks(pdf));
    for (const paragraph of paragraphs) writeParagraph(paragraph, levels.get(paragraph), writer);
    return { title: await readTitle(pdf), pages: pdf.numPages, pages_without_text: pagesWithoutText };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    // The library takes ownership of the whole buffer, which saves a copy.
    const owned = bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();
    return await getDocumentProxy(owned, {
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      BinaryDataFactory: CharacterMaps,
      cMapPacked: true,
      // In Node the package sets files of its own, which a Worker does not have.
      cMapUrl: undefined,
      standardFontDataUrl: undefined,
    });
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw passwordProtected();
    throw damaged('it is no sound PDF', error);
  }
}

async function readPages(
  pdf: PDFDocumentProxy,
  extras: ConstructorParameters<typeof PageReader>[1],
): Promise<{ paragraphs: PageParagraph[]; pagesWithoutText: number[]; hiddenParts: number }> {
  const paragraphs: PageParagraph[] = [];
  const memory = { running: new RunningLines(), hyphens: new HyphenJoiner(), stamps: new Set<string>() };
  const pagesWithoutText: number[] = [];
  let header: string[][] = [];
  let characters = 0;
  let hiddenParts = 0;
  for await (const page of new PageReader(pdf, extras, memory.running).pages()) {
    hiddenParts += page.hiddenParts;
    const isReadable = hasReadableText(page);
    if (!isReadable) pagesWithoutText.push(page.number);
    let isFirst = true;
    for (const found of isReadable ? readPageParagraphs(page, memory) : readPictures(page)) {
      for (const paragraph of found) {
        if (isFirst) continueTable(paragraphs.at(-1), paragraph, header);
        if (paragraph.kind === 'table' && paragraph.isContinued !== true) header = paragraph.rows.slice(0, maxHeaderRows);
        isFirst = false;
      }
      characters += found.reduce((sum, { text, rows }) => sum + text.length + rows.flat().join('').length, 0);
      appendParagraphs(paragraphs, found, memory.hyphens);
    }
    if (characters > maxCharacters || paragraphs.length > maxBlocks) throw tooLarge('it holds too much text');
  }
  return { paragraphs, pagesWithoutText, hiddenParts };
}

const countDamaged = (paragraphs: PageParagraph[]): number =>
  paragraphs.reduce((sum, { text, rows }) => sum + [text, ...rows.flat()].join('').split('\ufffd').length - 1, 0);

function writeParagraph(paragraph: PageParagraph, level: number | undefined, writer: BlockWriter): void {
  if (paragraph.isContinued === true) writer.continueTable(paragraph.page);
  else writer.endTable();
  writer.page = paragraph.page;
  const text = paragraph.text.replace(/\s?(?:\.\s?){4,}\s*/g, ' … ');
  if (level !== undefined) writer.heading(level, text);
  else if (paragraph.kind === 'item') writer.listItem(text);
  else if (paragraph.kind === 'text' || paragraph.kind === 'field') writer.paragraph(text);
  else for (const row of paragraph.rows) writer.row(row);
}

async function readTitle(pdf: PDFDocumentProxy): Promise<string> {
  const { info } = await pdf.getMetadata();
  const title = cleanLine(String((info as { Title?: unknown }).Title ?? ''));
  return isPlaceholderTitle(title) ? '' : title;
}

async function readBookmarks(pdf: PDFDocumentProxy): Promise<Bookmark[]> {
  type Outline = { title: string; items: Outline[] };
  const flatten = (items: Outline[], depth: number): Bookmark[] =>
    depth > 6 ? [] : items.flatMap(({ title, items: below }) => [{ title, depth }, ...flatten(below, depth + 1)]);
  try {
    return flatten(((await pdf.getOutline()) ?? []) as Outline[], 1);
  } catch {
    // A document can be read without its bookmarks.
    return [];
  }
}
