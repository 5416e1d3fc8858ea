import { BlockWriter } from './block-writer.ts';
import type { DocumentReader, ReadResult } from './document-reader.ts';
import type { Block, DocumentType, ParsedDocument } from './blocks.ts';
import { cleanLine } from './clean-text.ts';
import { detectType } from './detect-type.ts';
import { detectTypedHeadings } from './detect-typed-headings.ts';
import { listArchiveEntries } from '../../library/office-files/list-archive-entries.ts';
import { UnparsableDocument, damaged, tooLarge } from '../../library/text/unparsable-document.ts';
import { allHidden, emptyDocument, noText } from './refusals.ts';

/** Each parser is loaded with the first document of its type, so that a Worker without documents holds none in memory. */
const readers: Record<DocumentType, () => Promise<DocumentReader>> = {
  pdf: async () => (await import('./pdf/read-pdf.ts')).readPdf,
  docx: async () => (await import('./office/read-word.ts')).readWord,
  pptx: async () => (await import('./office/read-presentation.ts')).readPresentation,
  xlsx: async () => (await import('./office/read-workbook.ts')).readWorkbook,
  csv: async () => (await import('./text/read-delimited.ts')).readDelimited,
  tsv: async () => (await import('./text/read-delimited.ts')).readDelimited,
  txt: async () => (await import('./text/read-plain-text.ts')).readPlainText,
  md: async () => (await import('./text/read-markdown.ts')).readMarkdown,
  html: async () => (await import('./html/read-html.ts')).readHtml,
  json: async () => (await import('./text/read-json.ts')).readJson,
  rtf: async () => (await import('./rich-text/read-rich-text.ts')).readRichText,
  eml: async () => (await import('./email/read-email.ts')).readEmail,
};

/** Types whose headings are often typed as plain text. A PDF's headings are detected by their fonts. */
const typesWithTypedHeadings = new Set<DocumentType>(['docx', 'rtf', 'txt']);

/**
 * The text of a document in reading order, without markup. The content decides the type, then the name; `declaredType` (a MIME type) decides
 * between kinds of text and, as the name does, names the expected binary format. `encoding`: that of a text, if the sender names it. The parser of a PDF takes `bytes` over, so do not use them
 * afterwards. Throws only `UnparsableDocument`, for any bytes.
 */
export async function parseDocument(bytes: Uint8Array, name: string, declaredType?: string, encoding?: string): Promise<ParsedDocument> {
  const type = detectType(bytes, name, declaredType, encoding);
  const images = listOfficeImages(bytes, type);
  const writer = new BlockWriter();
  const read = await readers[type]();
  const reading = await read(bytes, writer, { name, encoding }).catch((error: unknown) => {
    throw toUnparsableDocument(error);
  });
  writer.endTable();
  const withoutText = reading.pages_without_text ?? [];
  if (writer.blocks.length === 0)
    throw withoutText.length === 0 && writer.warnings.has('hidden_left_out') ? allHidden() : toEmptyDocumentError(type, reading);
  for (const place of withoutText) writer.warnings.add('pages_without_text', { place });
  writer.warnings.add('images_skipped', { count: images.filter((image) => !writer.describedImages.has(image)).length });
  const blocks = typesWithTypedHeadings.has(type) ? detectTypedHeadings(writer.blocks) : writer.blocks;
  return {
    title: cleanLine(reading.title ?? '').slice(0, 300) || findTitle(writer.blocks),
    blocks,
    metadata: { type, pages: reading.pages ?? null, pages_without_text: withoutText.length },
    warnings: writer.warnings.list(),
  };
}

/** The names of the pictures in an Office file. */
function listOfficeImages(bytes: Uint8Array, type: DocumentType): string[] {
  if (type !== 'docx' && type !== 'pptx' && type !== 'xlsx') return [];
  return listArchiveEntries(bytes).flatMap(({ name }) =>
    /^(?:word|ppt|xl)\/media\/.*\.(?:png|jpe?g|gif|bmp|tiff?|webp|emf|wmf|svg)$/i.test(name) ? [name] : [],
  );
}

/** Libraries throw arbitrary errors for damaged bytes. */
function toUnparsableDocument(error: unknown): UnparsableDocument {
  if (error instanceof UnparsableDocument) return error;
  if (error instanceof RangeError) return tooLarge('its parts lie too deep in each other', 'save it in a simpler form and upload it again');
  return damaged('it cannot be read', error);
}

function toEmptyDocumentError(type: DocumentType, reading: ReadResult): UnparsableDocument {
  if (type === 'pdf') return noText(reading.pages === 1 ? 'on its page' : `on its ${reading.pages ?? 0} pages`);
  if (type === 'docx') return noText('in it');
  if (type === 'pptx') return noText('on its slides');
  return emptyDocument('The file holds no text');
}

/** The first heading of the highest level near the beginning of the document. */
function findTitle(blocks: Block[]): string | null {
  const beginning = blocks.slice(0, 20).filter((block) => block.kind === 'heading');
  const highest = Math.min(...beginning.map((heading) => heading.level));
  return beginning.find((heading) => heading.level === highest)?.text ?? null;
}
