import { guessCodePage } from './guess-code-page.ts';
import type { CodePage } from './guess-code-page.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | CodePage;

/** A file that cannot be read in its declared form. The message is a sentence for the sender. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFile';
}

/** The text of a file of unknown encoding, without its byte order mark. Throws `UnreadableFileError` when the file is no text. */
export function decodeText(bytes: Uint8Array): { text: string; encoding: Encoding } {
  if (bytes.length === 0) throw new UnreadableFileError('The file is empty');
  const { encoding, isMarked } = detectEncoding(bytes);
  // A replacement character in place of one damaged byte is better than no file at all.
  const decoded = new TextDecoder(encoding).decode(encoding.startsWith('utf-16') ? bytes.subarray(0, bytes.length & ~1) : bytes);
  // Spreadsheets of the DOS age end a file with control-Z.
  const text = decoded.endsWith('\u001a') ? decoded.slice(0, -1) : decoded;
  rejectBinary(text, isMarked);
  if (text.trim() === '') throw new UnreadableFileError('The file is empty: it holds nothing but blanks');
  return { text, encoding };
}

/** `isMarked`: the encoding was read from a byte order mark. `bytes` may be the beginning of a file; more bytes make the guess better. */
export function detectEncoding(bytes: Uint8Array): { encoding: Encoding; isMarked: boolean } {
  if (startsWith(bytes, [0xef, 0xbb, 0xbf])) return { encoding: 'utf-8', isMarked: true };
  if (startsWith(bytes, [0xff, 0xfe])) return { encoding: 'utf-16le', isMarked: true };
  if (startsWith(bytes, [0xfe, 0xff])) return { encoding: 'utf-16be', isMarked: true };
  const kind = signatures.find(({ magic }) => startsWith(bytes, magic));
  if (kind) throw new UnreadableFileError(`The file is ${kind.what}, not text; ${kind.advice ?? 'save it as CSV and try again'}`);
  return { encoding: detectUtf16(bytes) ?? (isMostlyUtf8(bytes) ? 'utf-8' : guessCodePage(bytes)), isMarked: false };
}

const signatures: { magic: number[]; what: string; advice?: string }[] = [
  { magic: [0x50, 0x4b, 0x03, 0x04], what: 'a zip archive or an Excel workbook (.xlsx)', advice: 'open it and save the sheet as CSV' },
  { magic: [0x50, 0x4b, 0x05, 0x06], what: 'an empty zip archive' },
  { magic: [0xd0, 0xcf, 0x11, 0xe0], what: 'an old Excel workbook (.xls)', advice: 'open it and save the sheet as CSV' },
  { magic: [0x25, 0x50, 0x44, 0x46], what: 'a PDF' },
  { magic: [0x1f, 0x8b], what: 'compressed with gzip', advice: 'unpack it first' },
  { magic: [0x89, 0x50, 0x4e, 0x47], what: 'a PNG picture' },
  { magic: [0xff, 0xd8, 0xff], what: 'a JPEG picture' },
  { magic: [0x47, 0x49, 0x46, 0x38], what: 'a GIF picture' },
];

/** How much of a text was looked at, and how many of its characters were controls that no table has. */
export interface ControlCount {
  length: number;
  controls: number;
}

/**
 * Throws `UnreadableFileError` when the decoded text is no text. `before` is the text that was read before. `isMarked`: a byte order mark
 * declared the file as text.
 */
export function rejectBinary(text: string, isMarked: boolean, before: ControlCount = { length: 0, controls: 0 }): ControlCount {
  const seen = { length: before.length + text.length, controls: before.controls + countControls(text) };
  if (text.includes('\0') || seen.controls > seen.length / 100)
    throw new UnreadableFileError(notTextMessage(isMarked ? ' although it begins like one' : ''));
  return seen;
}

const notTextMessage = (although: string) => `The file is not text${although}; save it as CSV in UTF-8 and try again`;
const startsWith = (bytes: Uint8Array, magic: number[]) => magic.every((byte, index) => bytes[index] === byte);

/** UTF-16 without a mark: in every script the delimiters, digits and line ends have one zero byte, always on the same side. */
function detectUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const head = bytes.subarray(0, 1 << 16);
  const zeros = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index & 1]! += 1;
  });
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0) return undefined;
  if (odd > head.length / 50 && even * 20 < odd) return 'utf-16le';
  if (even > head.length / 50 && odd * 20 < even) return 'utf-16be';
  throw new UnreadableFileError(notTextMessage(''));
}

/** A few damaged bytes in a long UTF-8 text do not make it another encoding. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(bytes);
  const damaged = text.match(/\ufffd/g)?.length ?? 0;
  if (damaged === 0) return true;
  const wellFormed = text.match(/[^\0-\u007f\ufffd]/gu)?.length ?? 0;
  return wellFormed >= damaged * 10;
}

// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const countControls = (text: string) => text.match(/[\u0001-\u0008\u000e-\u001f]/g)?.length ?? 0;
