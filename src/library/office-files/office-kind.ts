import { decodeLatin1 } from '../text/decode-latin1.ts';
import type { ArchiveEntry } from './list-archive-entries.ts';

/** What a zip archive is: an Office document, a file of another office program, or any other archive. */
type ArchiveKind = 'docx' | 'pptx' | 'xlsx' | 'xlsb' | 'opendocument' | 'iwork' | 'archive';

const kindParts: [kind: ArchiveKind, part: RegExp][] = [
  ['docx', /^word\/document\d*\.xml$/],
  ['pptx', /^ppt\/presentation\d*\.xml$/],
  ['xlsx', /^xl\/workbook\d*\.xml$/],
  ['xlsb', /^xl\/workbook\.bin$/],
  ['opendocument', /^META-INF\/manifest\.xml$/],
  ['iwork', /^Index\/.*\.iwa$/],
];

/** The kind of a zip archive, by the names of its parts. */
export function detectArchiveKind(entries: ArchiveEntry[]): ArchiveKind {
  const has = (pattern: RegExp) => entries.some((entry) => pattern.test(entry.name));
  const kind = kindParts.find(([, part]) => has(part))?.[0] ?? 'archive';
  return kind === 'opendocument' && !has(/^content\.xml$/) ? 'archive' : kind;
}

export const isZipArchive = (bytes: Uint8Array): boolean => beginsWith(bytes, 'PK\u0003\u0004') || beginsWith(bytes, 'PK\u0005\u0006');

/** Whether the bytes begin like the container of Office's old formats, in which Office also stores an encrypted docx, pptx or xlsx (MS-CFB, 2.2). */
export const isCompoundFile = (bytes: Uint8Array): boolean => beginsWith(bytes, '\u00d0\u00cf\u0011\u00e0');

/** Whether a file begins like a workbook, or like what people take for one: an old or an encrypted workbook, another archive. */
export const looksLikeWorkbook = (beginning: Uint8Array): boolean => isZipArchive(beginning) || isCompoundFile(beginning);

const beginsWith = (bytes: Uint8Array, signature: string): boolean =>
  [...signature].every((character, index) => bytes[index] === character.charCodeAt(0));

type CompoundFileKind = 'encrypted' | 'doc' | 'ppt' | 'xls' | 'other';

/** The kind of a compound file, by the names of its streams (MS-OFFCRYPTO, 2.3). */
export function detectCompoundFileKind(bytes: Uint8Array): CompoundFileKind {
  const parts = [bytes.subarray(0, 1 << 20), bytes.subarray(-(1 << 20))].map((part) => decodeLatin1(part));
  const holds = (stream: string) => parts.some((part) => part.includes([...stream].join('\0')));
  if (holds('EncryptedPackage')) return 'encrypted';
  if (holds('WordDocument')) return 'doc';
  if (holds('PowerPoint Document')) return 'ppt';
  // Excel 5 calls the stream "Book".
  return holds('Workbook') || holds('Book') ? 'xls' : 'other';
}
