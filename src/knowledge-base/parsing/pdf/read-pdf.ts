import { getDocumentProxy } from 'unpdf';
import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import type { BlockWriter } from '../block-writer.ts';
import { cleanLine } from '../clean-text.ts';
import { mostBlocks, mostCharacters } from '../limits.ts';
import { isPlaceholder } from '../office/relationships.ts';
import type { Reading } from '../parse.ts';
import { damaged, passwordProtected, tooLarge } from '../unparsable-document.ts';
import { letOthersRun } from '../../../library/let-others-run.ts';
import { appendParagraphs } from './append-paragraphs.ts';
import { mayBeDeep } from './deep-bookmarks.ts';
import { FileObjects } from './file-objects.ts';
import { rangesOfFonts, refuseRanges } from './font-work.ts';
import { headingLevels } from './headings.ts';
import type { Bookmark } from './headings.ts';
import { Hyphens } from './hyphens.ts';
import { pageParagraphs } from './page-paragraphs.ts';
import { readTextItems } from './text-items.ts';
import { refuseBombs } from './refuse-bombs.ts';
import { pageRuns } from './page-runs.ts';
import { PageWork } from './page-work.ts';
import type { PageParagraph } from './paragraphs.ts';
import { RunningLines } from './running-lines.ts';

const endMark = '%%EOF';
const endMarkWithin = 4096;
const pagesBetweenCleanups = 20;
const mostPages = 5000;

/** Page by page, so that never more than one page's parts are in memory. */
export async function readPdf(bytes: Uint8Array, writer: BlockWriter): Promise<Reading> {
  // The library would find its way in the beginning of a file, and leave out what is missing without a word.
  if (!new TextDecoder('latin1').decode(bytes.subarray(-endMarkWithin)).includes(endMark)) throw damaged('it is cut off');
  const file = new TextDecoder('latin1').decode(bytes);
  await refuseBombs(bytes, file);
  const objects = await FileObjects.of(bytes, file);
  const work = await PageWork.of(objects, bytes.length);
  const ranges = await rangesOfFonts(objects);
  const hasDeepBookmarks = mayBeDeep(objects, file);
  const pdf = await openPdf(bytes);
  try {
    if (pdf.numPages > mostPages) throw tooLarge(`it has ${pdf.numPages} pages, which is more than ${mostPages}`);
    refuseRanges(ranges, Math.ceil(pdf.numPages / pagesBetweenCleanups));
    const { paragraphs, pagesWithoutText } = await readPages(pdf, work);
    const levels = headingLevels(paragraphs, hasDeepBookmarks ? [] : await bookmarksOf(pdf));
    for (const paragraph of paragraphs) write(paragraph, levels.get(paragraph), writer);
    return { title: await titleOf(pdf), pages: pdf.numPages, pages_without_text: pagesWithoutText };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    // The library takes the bytes for its own, which saves a copy of them, and takes the whole buffer that they lie in.
    const owned = bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();
    return await getDocumentProxy(owned, { verbosity: 0, disableFontFace: true, useSystemFonts: false });
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw passwordProtected();
    throw damaged('it is no sound PDF', error);
  }
}

async function readPages(pdf: PDFDocumentProxy, work: PageWork): Promise<{ paragraphs: PageParagraph[]; pagesWithoutText: number }> {
  const paragraphs: PageParagraph[] = [];
  const memory = { running: new RunningLines(), hyphens: new Hyphens(), comparisons: 0 };
  let pagesWithoutText = 0;
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    work.take(number, page.ref?.num);
    const runs = pageRuns(await readTextItems(page), page.getViewport({ scale: 1 }));
    page.cleanup();
    // Otherwise the library keeps the fonts and texts of all pages: 70 KB a page.
    if (number % pagesBetweenCleanups === 0) await pdf.cleanup();
    if (runs.runs.length === 0) pagesWithoutText += 1;
    for (const found of pageParagraphs(runs, number, memory)) {
      characters += found.reduce((sum, { text, rows }) => sum + text.length + rows.flat().join('').length, 0);
      appendParagraphs(paragraphs, found, memory.hyphens);
    }
    await letOthersRun();
    if (characters > mostCharacters || paragraphs.length > mostBlocks) throw tooLarge('it holds too much text');
  }
  return { paragraphs, pagesWithoutText };
}

function write(paragraph: PageParagraph, level: number | undefined, writer: BlockWriter): void {
  writer.endTable();
  writer.page = paragraph.page;
  const text = paragraph.text.replace(/\s?(?:\.\s?){4,}\s*/g, ' … ');
  if (level !== undefined) writer.heading(level, text);
  else if (paragraph.kind === 'item') writer.listItem(text);
  else if (paragraph.kind === 'text') writer.paragraph(text);
  else for (const row of paragraph.rows) writer.row(row);
}

async function titleOf(pdf: PDFDocumentProxy): Promise<string> {
  const { info } = await pdf.getMetadata();
  const title = cleanLine(String((info as { Title?: unknown }).Title ?? ''));
  return isPlaceholder(title) ? '' : title;
}

async function bookmarksOf(pdf: PDFDocumentProxy): Promise<Bookmark[]> {
  type Outline = { title: string; items: Outline[] };
  const flatten = (items: Outline[], depth: number): Bookmark[] =>
    depth > 6 ? [] : items.flatMap(({ title, items: below }) => [{ title, depth }, ...flatten(below, depth + 1)]);
  try {
    return flatten(((await pdf.getOutline()) ?? []) as Outline[], 1);
  } catch {
    // Bookmarks help, but a document is whole without them.
    return [];
  }
}
