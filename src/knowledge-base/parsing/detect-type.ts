import { chooseEncoding, rejectBinary } from '../../library/text/decode-text.ts';
import { NotTextError, UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { detectArchiveKind, detectCompoundFileKind, isCompoundFile, isZipArchive } from '../../library/office-files/office-kind.ts';
import type { DocumentType } from './blocks.ts';
import { listArchiveEntries } from '../../library/office-files/list-archive-entries.ts';
import { passwordProtected } from '../../library/text/unparsable-document.ts';
import { emptyDocument, notAsDeclared, notText, unsupportedType } from './refusals.ts';

const inspectedBytes = 4096;

/**
 * Detects the type of a file. A signature decides regardless of the name; text is classified by its beginning, then by the extension, then by
 * the declared MIME type. `encoding`: that of a text, if the sender names it. Throws `UnparsableDocument` for an unsupported file, and for a file without the binary format of its name or MIME
 * type, which is probably the wrong file.
 */
export function detectType(bytes: Uint8Array, name: string, declaredType?: string, encoding?: string): DocumentType {
  const binary = declaredBinaryTypes(name, declaredType);
  const type = detectFromContent(bytes, name, declaredType, { binary, encoding });
  if (binary.length > 0 && !binary.includes(type)) throw notAsDeclared(binary[0]!, type);
  return type;
}

const binaryMimeTypes: Record<string, DocumentType> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};
const binaryTypes = Object.values(binaryMimeTypes);

function declaredBinaryTypes(name: string, declaredType: string | undefined): DocumentType[] {
  return [binaryTypes.find((type) => type === extensionOf(name)), binaryMimeTypes[parseMimeType(declaredType)]].filter(
    (type) => type !== undefined,
  );
}

const extensionOf = (name: string): string => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
const parseMimeType = (declaredType = ''): string => declaredType.split(';')[0]!.trim().toLowerCase();

function detectFromContent(
  bytes: Uint8Array,
  name: string,
  declaredType: string | undefined,
  { binary, encoding }: { binary: DocumentType[]; encoding: string | undefined },
): DocumentType {
  if (bytes.length === 0) throw emptyDocument();
  // Some programs write bytes before a PDF; PDF readers allow 1,024.
  const beginning = String.fromCharCode(...bytes.subarray(0, inspectedBytes));
  if (beginning.slice(0, 1024).includes('%PDF-')) return 'pdf';
  if (isZipArchive(bytes)) return detectOfficeType(bytes);
  if (isCompoundFile(bytes)) throw legacyOfficeError(bytes);
  if (/^\s*\{\\rtf/.test(beginning)) return 'rtf';
  const foreign = unsupportedFormats.find(({ signature, at }) => beginning.startsWith(signature, at));
  if (foreign) throw unsupportedType(foreign.what);
  if (binary.length > 0) throw notAsDeclared(binary[0]!, null);
  return detectTextType(bytes, name, declaredType, encoding);
}

/** `at`: the offset of the signature; 0 if absent. */
const unsupportedFormats: { signature: string; at?: number; what: string }[] = [
  { signature: '\u0089PNG', what: 'a PNG picture' },
  { signature: '\u00ff\u00d8\u00ff', what: 'a JPEG picture' },
  { signature: 'GIF8', what: 'a GIF picture' },
  { signature: 'WEBP', at: 8, what: 'a WebP picture' },
  { signature: 'II*\0', what: 'a TIFF picture' },
  { signature: 'MM\0*', what: 'a TIFF picture' },
  { signature: '\u001f\u008b', what: 'compressed with gzip' },
  { signature: 'Rar!', what: 'a RAR archive' },
  { signature: '7z\u00bc\u00af', what: 'a 7z archive' },
  { signature: 'ftyp', at: 4, what: 'a video or a sound' },
  { signature: 'WAVE', at: 8, what: 'a sound' },
  { signature: 'ID3', what: 'a sound' },
  { signature: 'OggS', what: 'a sound' },
  { signature: 'fLaC', what: 'a sound' },
  { signature: 'MZ\u0090\0', what: 'a program' },
  { signature: '\u007fELF', what: 'a program' },
];

/** The type of office document in a zip archive. */
function detectOfficeType(bytes: Uint8Array): DocumentType {
  const entries = listArchiveEntries(bytes);
  const kind = detectArchiveKind(entries);
  if (kind === 'docx' || kind === 'pptx' || kind === 'xlsx') {
    if (entries.some((entry) => entry.isEncrypted)) throw passwordProtected();
    return kind;
  }
  const { what, advice } = foreignArchives[kind];
  throw unsupportedType(what, advice);
}

const foreignArchives = {
  xlsb: { what: 'a binary Excel workbook (.xlsb)', advice: 'save it as .xlsx' },
  opendocument: { what: 'an OpenDocument file', advice: 'save it as .docx, .pptx or .xlsx' },
  iwork: { what: 'a Pages, Numbers or Keynote file', advice: 'export it as .pdf, .docx, .xlsx or .pptx' },
  archive: { what: 'a zip archive', advice: 'unpack it and upload the documents in it' },
};

function legacyOfficeError(bytes: Uint8Array) {
  const kind = detectCompoundFileKind(bytes);
  return kind === 'encrypted' ? passwordProtected() : unsupportedType(legacyFormats[kind], 'save it as .docx, .pptx, .xlsx or .pdf');
}

const legacyFormats = {
  doc: 'an old Word document (.doc)',
  ppt: 'an old PowerPoint presentation (.ppt)',
  xls: 'an old Excel workbook (.xls)',
  other: 'an old Office file',
};

const extensions: Record<string, DocumentType> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  txt: 'txt',
  text: 'txt',
  md: 'md',
  markdown: 'md',
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  eml: 'eml',
};

const declaredTypes: Record<string, DocumentType> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/markdown': 'md',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/json': 'json',
  'message/rfc822': 'eml',
};

function detectTextType(bytes: Uint8Array, name: string, declaredType?: string, encoding?: string): DocumentType {
  const text = decodeBeginning(bytes, encoding).trimStart();
  const extension = extensionOf(name);
  const named = extensions[extension] ?? (extension === '' ? declaredTypes[parseMimeType(declaredType)] : undefined);
  if (named === 'csv' || named === 'tsv') return /^<(?:!doctype|html|table)\b/i.test(text) ? 'html' : named;
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype html|html|head|body)\b/i.test(text)) return 'html';
  if (/^<\?xml\b/i.test(text)) throw unsupportedType('an XML file');
  if (isEmail(text)) return 'eml';
  if (named === 'json') return /^[[{"]|^-?\d/.test(text) ? 'json' : 'txt';
  if (named === 'html') return /<[a-z!/]/i.test(text) ? 'html' : 'txt';
  if (named === 'eml') return /^[\w-]+:/.test(text) ? 'eml' : 'txt';
  return named ?? (extension !== 'txt' && isJson(bytes, text) ? 'json' : 'txt');
}

/** Throws when no encoding decodes the bytes as text. */
function decodeBeginning(bytes: Uint8Array, named?: string): string {
  const beginning = bytes.subarray(0, inspectedBytes);
  try {
    const { encoding } = chooseEncoding(beginning, named);
    const decoded = new TextDecoder(encoding).decode(beginning);
    // Spreadsheets of the DOS age end a file with control-Z.
    const text = decoded.endsWith('\u001a') ? decoded.slice(0, -1) : decoded;
    rejectBinary(text, { isMarked: false });
    return text;
  } catch (error) {
    if (error instanceof NotTextError) throw notText(error.why);
    throw error instanceof UnreadableFileError ? notText('') : error;
  }
}

/** Headers at the beginning of an e-mail (RFC 5322). Two are required, so that a text that begins "From: here" is no e-mail. */
function isEmail(text: string): boolean {
  const headers = /^(?:From [^\n]*\n)?((?:[!-9;-~]+:[^\n]*(?:\n[ \t][^\n]*)*\r?\n){3,})/.exec(text)?.[1] ?? '';
  const known = headers.match(/^(?:from|to|subject|date|mime-version|message-id|received|return-path|delivered-to|content-type):/gim);
  return new Set(known?.map((header) => header.toLowerCase())).size >= 3;
}

/** A small file with an unknown extension is parsed completely to decide. */
function isJson(bytes: Uint8Array, beginning: string): boolean {
  if (!/^[[{]/.test(beginning) || bytes.length > 1 << 20) return false;
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    return false;
  }
}
