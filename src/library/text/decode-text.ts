import { detectUtf16 } from './encodings/detect-utf16.ts';
import { toEncodingName } from './encodings/encoding-names.ts';
import { guessEncoding, type EncodingGuess } from './encodings/guess-encoding.ts';
import { NotTextError, UncertainEncoding, UnreadableFileError } from './unreadable-file.ts';

/** `encoding`: as `TextDecoder` names it. `isMarked`: a byte order mark tells it. `guess`: it was guessed by the letters that the bytes would be. */
export interface DetectedEncoding {
  encoding: string;
  isMarked: boolean;
  guess?: EncodingGuess;
}

/**
 * The text of a file, without its byte order mark. `named`: a label of the encoding that the sender names; a mark goes first. Throws `UnreadableFileError` when the file is no
 * text, and `UncertainEncoding` when several encodings give texts that are about as likely, or the named one gives none.
 */
export function decodeText(bytes: Uint8Array, named?: string): { text: string; encoding: string } {
  if (bytes.length === 0) throw emptyFile();
  const { encoding, isMarked, guess } = chooseEncoding(bytes, named);
  requireCertainty(guess);
  const whole = encoding.startsWith('utf-16') ? bytes.subarray(0, bytes.length & ~1) : bytes;
  // A replacement character in place of one damaged byte is better than no file at all, unless the sender named the encoding.
  const decoded =
    named === undefined
      ? new TextDecoder(encoding).decode(whole)
      : decodeAsNamed(new TextDecoder(encoding, { fatal: true, ignoreBOM: false }), whole);
  // Spreadsheets of the DOS age end a file with control-Z.
  const text = decoded.endsWith('\u001a') ? decoded.slice(0, -1) : decoded;
  rejectBinary(text, { isMarked, named: isMarked ? undefined : named });
  if (text.trim() === '') throw emptyFile('it holds nothing but blanks');
  return { text: showStrayNuls(text), encoding };
}

/** The text with each stray NUL, which no store keeps, as a damaged character. */
export const showStrayNuls = (text: string): string => text.replaceAll('\0', '\ufffd');

/** The error of a file without a text. */
export const emptyFile = (why = 'it has no bytes'): UnreadableFileError =>
  new UnreadableFileError(`The file is empty: ${why}; save it once more, or choose another one`);

/** Throws `UncertainEncoding` for a guess that is not sure. */
export function requireCertainty(guess: EncodingGuess | undefined): void {
  if (guess === undefined || guess.isSure) return;
  const dos = guess.dosCodePage === undefined ? '' : `, or ${guess.dosCodePage}, a code page of DOS, which is not read`;
  throw new UncertainEncoding(
    `The encoding of the file cannot be told for sure: it may be ${guess.candidates.join(', ')}${dos}; name it in "encoding", or save the file in UTF-8`,
    guess.candidates,
  );
}

/** Throws `UncertainEncoding` for bytes that mean nothing in the named encoding. */
export function decodeAsNamed(decoder: TextDecoder, bytes?: Uint8Array, options?: { stream: boolean }): string {
  try {
    return decoder.decode(bytes, options);
  } catch {
    throw new UncertainEncoding(
      `The file is not in ${decoder.encoding}: some of its bytes mean nothing in it; name another encoding, or none`,
      [],
    );
  }
}

/** The encoding of a file of which `bytes` is the beginning. `named`: the encoding that the sender names; a mark goes first. */
export function chooseEncoding(bytes: Uint8Array, named?: string): DetectedEncoding {
  if (named === undefined) return detectEncoding(bytes);
  return detectMark(bytes) ?? { encoding: toEncodingName(named) ?? named, isMarked: false };
}

/** `bytes` may be the beginning of a file; more bytes make the guess better. */
export function detectEncoding(bytes: Uint8Array): DetectedEncoding {
  const marked = detectMark(bytes);
  if (marked) return marked;
  const kind = signatures.find(({ magic }) => startsWith(bytes, magic));
  if (kind) throw new UnreadableFileError(`The file is ${kind.what}, not text; ${kind.advice ?? 'save it as CSV and try again'}`);
  const utf16 = detectUtf16(bytes);
  if (utf16 === null) throw new NotTextError(describeNul('byte', bytes.indexOf(0)));
  if (utf16 !== undefined) return { encoding: utf16, isMarked: false };
  if (isSwitched(bytes)) return { encoding: 'iso-2022-jp', isMarked: false };
  if (isMostlyUtf8(bytes)) return { encoding: 'utf-8', isMarked: false };
  const guess = guessEncoding(bytes);
  return { encoding: guess.encoding, isMarked: false, guess };
}

function detectMark(bytes: Uint8Array): DetectedEncoding | undefined {
  if (startsWith(bytes, [0xef, 0xbb, 0xbf])) return { encoding: 'utf-8', isMarked: true };
  if (startsWith(bytes, [0xff, 0xfe])) return { encoding: 'utf-16le', isMarked: true };
  if (startsWith(bytes, [0xfe, 0xff])) return { encoding: 'utf-16be', isMarked: true };
  return undefined;
}

/** ISO-2022-JP: seven-bit text that escape sequences switch to Japanese (`ESC $ B`) and back. */
function isSwitched(bytes: Uint8Array): boolean {
  if (bytes.some((byte) => byte >= 0x80)) return false;
  return bytes.some(
    (byte, index) => byte === 0x1b && bytes[index + 1] === 0x24 && (bytes[index + 2] === 0x42 || bytes[index + 2] === 0x40),
  );
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

/** How much of a text was looked at, how many of its characters were controls that no table has, how many NUL, and the index of the first NUL (-1: there is none). */
export interface ControlCount {
  length: number;
  controls: number;
  nuls: number;
  firstNul: number;
}

/** As many are strays in a text of any length, unless every tenth character is one. */
const maxStrayNuls = 3;

/**
 * Throws `UnreadableFileError` when the decoded text is no text, and `UncertainEncoding` when it was decoded as the encoding that the sender
 * `named`. `before` is the text that was read before. `isMarked`: a byte order mark declared the file as text.
 */
export function rejectBinary(
  text: string,
  { isMarked, named }: { isMarked: boolean; named?: string | undefined },
  before: ControlCount = { length: 0, controls: 0, nuls: 0, firstNul: -1 },
): ControlCount {
  const seen = { ...before, length: before.length + text.length, controls: before.controls + countControls(text) };
  if (text.includes('\0')) {
    seen.nuls += text.split('\0').length - 1;
    if (before.nuls === 0) seen.firstNul = before.length + text.indexOf('\0');
  }
  const { length, controls, nuls } = seen;
  if (controls <= length / 100 && nuls <= Math.max(maxStrayNuls, length / 100) && nuls <= length / 10) return seen;
  if (named !== undefined)
    throw new UncertainEncoding(`The file is not in ${named}: it would be no text; name another encoding, or none`, []);
  throw new NotTextError(describeNul('character', seen.firstNul), isMarked ? ' although it begins like one' : '');
}

const describeNul = (unit: string, index: number): string =>
  index < 0 ? '' : `its ${unit} ${index + 1} is a NUL (a zero byte), as in binary files`;
const startsWith = (bytes: Uint8Array, magic: number[]) => magic.every((byte, index) => bytes[index] === byte);

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
