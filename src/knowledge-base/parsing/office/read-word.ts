import JSZip from 'jszip';
import mammoth from 'mammoth';
import type { BlockWriter } from '../block-writer.ts';
import { readHtmlPieces } from '../html/read-html.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import type { ReadResult } from '../document-reader.ts';
import { UnparsableDocument, damaged, tooLarge } from '../../../library/text/unparsable-document.ts';
import { openArchive } from '../../../library/office-files/archive.ts';
import type { Archive } from '../../../library/office-files/archive.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';
import { countComments } from './count-comments.ts';
import { readChart } from './read-chart.ts';
import { readRunningText } from './read-running-text.ts';
import { readSlide } from './read-slide.ts';
import { countEmbedded, readRelationships, readTitle } from '../../../library/office-files/relationships.ts';
import type { Relationship } from '../../../library/office-files/relationships.ts';
import { showWordText } from './show-word-text.ts';
import type { WordFacts } from './show-word-text.ts';
import { splitWordBody } from './split-word-body.ts';
import { readWordNumbering } from './word-numbering.ts';
import { readWordStyles } from './word-styles.ts';
import { toTextTag } from './xml-text.ts';

/** In characters of XML. The library needs forty times as much memory. */
const partLength = 1 << 19;
const maxSidePartLength = 8 << 20;
/** The library reads styles and notes again with each part. */
const maxSideCharacters = 64 << 20;

const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"];
/** The parts that the library needs beside the text; others are pictures, fonts and settings. */
const sideParts = new Set(['styles', 'numbering', 'footnotes', 'endnotes']);

/** Reads a Word document as HTML, part by part, between its headers and its footers. Hidden texts and readings of characters are left out. */
export async function readWord(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const main = (await readRelationships(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'word/document.xml';
  if (!archive.has(main)) throw damaged('it has no main part');
  const relationships = await readRelationships(archive, main);
  writer.warnings.add('embedded_left_out', { count: countEmbedded(relationships) });
  writer.warnings.add('comments_left_out', { count: await countComments(archive, relationships) });
  const facts = await readFacts(archive, relationships, writer);
  const side = await readSideParts(archive, main, relationships, facts);
  await writeRunningTexts(archive, relationships, 'header', writer);
  const sideLength = [...side.values()].reduce((sum, text) => sum + text.length, 0);
  let sideRead = 0;
  for await (const { xml, isPlain } of splitWordBody(showWordText(archive.pieces(main), facts), partLength)) {
    if (isPlain) await readBareText(xml, writer);
    else {
      sideRead += sideLength;
      if (sideRead > maxSideCharacters && sideRead > sideLength) throw tooLarge('its styles and notes are too long for its many parts');
      await readPart(xml, main, side, writer);
    }
    await yieldToEventLoop();
  }
  await writeRunningTexts(archive, relationships, 'footer', writer);
  return { title: await readTitle(archive) };
}

async function readPart(part: string, main: string, side: Map<string, string>, writer: BlockWriter): Promise<void> {
  const document = await packWord(main, removeReferences(part), side);
  try {
    const { value } = await mammoth.convertToHtml(
      // The library takes the first in Node, the second elsewhere.
      { arrayBuffer: document.buffer, buffer: document } as Parameters<typeof mammoth.convertToHtml>[0],
      { styleMap },
    );
    // The library knows no state of a box; its sign stands in the text.
    await readHtmlPieces([value.replace(/<input\b[^>]*>/g, '')], writer);
  } catch (error) {
    if (error instanceof UnparsableDocument) throw error;
    // The library refuses documents of some programs; their text can still be read.
    await readBareText(part, writer);
  }
}

/** Removes the targets of links, for whose absence the library fails. Their text stays. */
const removeReferences = (part: string): string => part.replace(/<w:hyperlink\b[^>]*?(\/?)>/g, '<w:hyperlink$1>');

async function readBareText(part: string, writer: BlockWriter): Promise<void> {
  let text = '';
  let isInText = false;
  await readXml([part], {
    open(name) {
      if (name === 't') isInText = true;
      else if (name === 'tab' || name === 'br') text += ' ';
    },
    text: (piece) => (text += isInText ? piece : ''),
    close(name) {
      if (name === 't') isInText = false;
      if (name !== 'p') return;
      writer.paragraph(text);
      text = '';
    },
  });
}

async function readFacts(archive: Archive, relationships: Relationship[], writer: BlockWriter): Promise<WordFacts> {
  const partOf = (wanted: string) => relationships.find(({ type }) => type === wanted)?.target ?? '';
  const styles = await readWordStyles(archive, partOf('styles'));
  const targets = new Map(relationships.map(({ id, target }) => [id, target]));
  const insets = new Map<string, string>();
  let insetLength = 0;
  for (const { type, id, target } of relationships) {
    if (type !== 'chart' && type !== 'diagramData') continue;
    const inset = type === 'chart' ? await writeChart(archive, target) : await writeDiagram(archive, target, writer);
    insetLength += inset.length;
    if (insetLength > maxSidePartLength) throw tooLarge('its charts and diagrams are too long');
    insets.set(id, inset);
  }
  return {
    styles,
    numbering: await readWordNumbering(archive, partOf('numbering'), styles),
    insets,
    count: (code) => writer.warnings.add(code),
    onUnreadSymbol: (font) => writer.warnings.add('symbols_unread', { font }),
    onUnsolvedField: () => writer.warnings.add('formulas_left_out'),
    onDescribedImage: (relationship) => writer.describedImages.add(targets.get(relationship) ?? ''),
  };
}

const toParagraph = (text: string): string => `<w:p><w:r>${toTextTag(text)}</w:r></w:p>`;

async function writeChart(archive: Archive, part: string): Promise<string> {
  const { title, rows } = await readChart(archive, part);
  const cells = rows.map((row) => `<w:tr>${row.map((cell) => `<w:tc>${toParagraph(cell)}</w:tc>`).join('')}</w:tr>`);
  return `${title === '' ? '' : toParagraph(title)}${cells.length === 0 ? '' : `<w:tbl>${cells.join('')}</w:tbl>`}`;
}

async function writeDiagram(archive: Archive, part: string, { warnings }: BlockWriter): Promise<string> {
  const { parts } = await readSlide(archive.pieces(part), warnings);
  return parts.map((one) => ('paragraph' in one && one.paragraph.text.trim() !== '' ? toParagraph(one.paragraph.text) : '')).join('');
}

/** Sections and first pages often have the same header: each line is written once. */
async function writeRunningTexts(archive: Archive, relationships: Relationship[], kind: string, writer: BlockWriter): Promise<void> {
  const lines = new Set<string>();
  for (const { type, target } of relationships)
    if (type === kind) for (const line of await readRunningText(archive, target, writer)) lines.add(line);
  for (const line of lines) writer.paragraph(line);
}

/** The parts by their names in the archive. */
async function readSideParts(
  archive: Archive,
  main: string,
  relationships: Relationship[],
  facts: WordFacts,
): Promise<Map<string, string>> {
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  const names = ['[Content_Types].xml', '_rels/.rels', `${folder}_rels/${main.slice(folder.length)}.rels`];
  const side = new Map<string, string>();
  for (const name of names) if (archive.has(name)) side.set(name, await archive.text(name, maxSidePartLength));
  for (const { type, target } of relationships) {
    if (!sideParts.has(type) || !archive.has(target)) continue;
    const text = await archive.text(target, maxSidePartLength);
    if (type === 'numbering') side.set(target, toBullets(text));
    else if (type === 'styles') side.set(target, text);
    else side.set(target, await showText(text, { ...facts, numbering: undefined, insets: new Map(), onDescribedImage: () => undefined }));
  }
  return side;
}

/** Numbers stand in the text already. */
const toBullets = (numbering: string): string => numbering.replace(/(<w:numFmt\b[^>]*?\bw:val=)(["'])[^"']*\2/g, '$1$2bullet$2');

async function showText(text: string, facts: WordFacts): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of showWordText(toPieces(text), facts)) pieces.push(piece);
  return pieces.join('');
}

async function* toPieces(text: string): AsyncGenerator<string> {
  yield text;
}

/** A docx with one part of the document. */
async function packWord(main: string, body: string, side: Map<string, string>): Promise<Uint8Array> {
  const zip = new JSZip();
  for (const [name, text] of side) zip.file(name, text);
  zip.file(main, body);
  return zip.generateAsync({ type: 'uint8array', compression: 'STORE' });
}
