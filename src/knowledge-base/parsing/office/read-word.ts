import JSZip from 'jszip';
import mammoth from 'mammoth';
import type { BlockWriter } from '../block-writer.ts';
import { readHtmlPieces } from '../html/read-html.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import type { ReadResult } from '../document-reader.ts';
import { UnparsableDocument, damaged, tooLarge } from '../unparsable-document.ts';
import { openArchive } from './archive.ts';
import type { Archive } from './archive.ts';
import { readXml } from './read-xml.ts';
import { readRelationships, readTitle } from './relationships.ts';
import { splitWordBody } from './split-word-body.ts';

/** In characters of XML. The library needs forty times as much memory. */
const partLength = 1 << 19;
const maxSidePartLength = 8 << 20;
/** The library reads styles and notes again with each part. */
const maxSideCharacters = 64 << 20;

const styles = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"];
/** The parts that the library needs beside the text; others are pictures, fonts and settings. */
const sideParts = new Set(['styles', 'numbering', 'footnotes', 'endnotes']);

/** Reads a Word document as HTML, part by part. */
export async function readWord(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const main = (await readRelationships(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'word/document.xml';
  if (!archive.has(main)) throw damaged('it has no main part');
  const side = await readSideParts(archive, main);
  const sideLength = [...side.values()].reduce((sum, text) => sum + text.length, 0);
  let sideRead = 0;
  for await (const { xml, isPlain } of splitWordBody(archive.pieces(main), partLength)) {
    if (isPlain) await readBareText(xml, writer);
    else {
      sideRead += sideLength;
      if (sideRead > maxSideCharacters && sideRead > sideLength) throw tooLarge('its styles and notes are too long for its many parts');
      await readPart(xml, main, side, writer);
    }
    await yieldToEventLoop();
  }
  return { title: await readTitle(archive) };
}

async function readPart(part: string, main: string, side: Map<string, string>, writer: BlockWriter): Promise<void> {
  const document = await packWord(main, removeReferences(part), side);
  try {
    const { value } = await mammoth.convertToHtml(
      // The library takes the first in Node, the second elsewhere.
      { arrayBuffer: document.buffer, buffer: document } as Parameters<typeof mammoth.convertToHtml>[0],
      { styleMap: styles },
    );
    await readHtmlPieces([value], writer);
  } catch (error) {
    if (error instanceof UnparsableDocument) throw error;
    // The library refuses documents of some programs; their text can still be read.
    await readBareText(part, writer);
  }
}

/** Removes links and pictures, for whose missing targets the library fails. Their text stays. */
const removeReferences = (part: string): string =>
  part.replace(/<w:hyperlink\b[^>]*?(\/?)>/g, '<w:hyperlink$1>').replace(/<(\/?)(a:blip|v:imagedata)\b/g, '<$1$2-unread');

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

/** The parts by their names in the archive. */
async function readSideParts(archive: Archive, main: string): Promise<Map<string, string>> {
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  const names = ['[Content_Types].xml', '_rels/.rels', `${folder}_rels/${main.slice(folder.length)}.rels`];
  for (const { type, target } of await readRelationships(archive, main)) if (sideParts.has(type)) names.push(target);
  const side = new Map<string, string>();
  for (const name of names) if (archive.has(name)) side.set(name, await archive.text(name, maxSidePartLength));
  return side;
}

/** A docx with one part of the document. */
async function packWord(main: string, body: string, side: Map<string, string>): Promise<Uint8Array> {
  const zip = new JSZip();
  for (const [name, text] of side) zip.file(name, text);
  zip.file(main, body);
  return zip.generateAsync({ type: 'uint8array', compression: 'STORE' });
}
