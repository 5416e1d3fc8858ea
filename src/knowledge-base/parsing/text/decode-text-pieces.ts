import { detectEncoding, showStrayNuls, type DetectedEncoding } from '../../../library/text/decode-text.ts';
import type { EncodingGuess } from '../../../library/text/encodings/guess-encoding.ts';
import { NotTextError, UncertainEncoding, UnreadableFileError } from '../../../library/text/unreadable-file.ts';
import { decodeTextStream } from '../../../library/text/decode-text-stream.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { pieceLength } from '../../../library/office-files/limits.ts';
import { damaged } from '../../../library/text/unparsable-document.ts';
import { emptyDocument, notText } from '../refusals.ts';
import type { WarningCounts } from '../warnings.ts';

/** `named`: the encoding that the sender names. `declared`: the one that the file names; it counts unless the bytes are UTF-8 or begin with a byte order mark. */
export interface PieceOptions {
  named?: string | undefined;
  declared?: string | undefined;
  warnings: WarningCounts;
}

/**
 * Decodes a file in pieces, so that the whole text is never in memory, and lets requests go first between two pieces. Warns of an encoding that was guessed, and of
 * damaged characters.
 */
export async function* decodeTextPieces(bytes: Uint8Array, options: PieceOptions): AsyncGenerator<string, undefined, undefined> {
  const { named, declared, warnings } = options;
  const decoder = declared === undefined || named !== undefined ? undefined : createDecoder(bytes, declared);
  const onDetected = ({ guess }: DetectedEncoding) => guess && warnOfGuess(guess, warnings);
  let length = 0;
  try {
    for await (const decoded of decoder
      ? decodeWith(bytes, decoder)
      : decodeTextStream(splitIntoSlices(bytes), { encoding: named, onDetected })) {
      const piece = showStrayNuls(decoded);
      length += piece.trim().length;
      warnings.add('characters_damaged', { count: piece.split('\ufffd').length - 1 });
      yield* splitText(piece);
    }
  } catch (error) {
    if (error instanceof UncertainEncoding) throw damaged(error.message.charAt(0).toLowerCase() + error.message.slice(1), error);
    if (error instanceof UnreadableFileError) throw notText(error instanceof NotTextError ? error.why : '');
    throw error;
  }
  if (length === 0) throw emptyDocument('The file holds nothing but blanks');
}

export function warnOfGuess({ encoding, isSure, candidates, dosCodePage }: EncodingGuess, warnings: WarningCounts): void {
  const others = [dosCodePage ?? [], candidates.filter((candidate) => candidate !== encoding)].flat(2).join(', ');
  if (isSure) warnings.add('encoding_guessed', { detail: encoding });
  else warnings.add('encoding_uncertain', { detail: others === '' ? encoding : `${encoding}, and may be ${others}` });
}

/** Cuts a text that is in memory into pieces, and lets requests go first between two of them. */
export async function* splitText(text: string): AsyncGenerator<string, undefined, undefined> {
  for (let place = 0; place < text.length; place += pieceLength) {
    yield text.slice(place, place + pieceLength);
    await yieldToEventLoop();
  }
}

/** Yields the lines of `pieces`, without line ends, in groups. */
export async function* splitIntoLineBatches(pieces: AsyncIterable<string>): AsyncGenerator<string[], undefined, undefined> {
  let held: string[] = [];
  let carriageReturn = '';
  for await (const piece of pieces) {
    const text = carriageReturn + piece;
    // A carriage return may be followed by a line feed in the next piece.
    carriageReturn = text.endsWith('\r') ? '\r' : '';
    const [first = '', ...lines] = (carriageReturn ? text.slice(0, -1) : text).split(/\r\n?|\n/);
    held.push(first);
    const last = lines.pop();
    if (last === undefined) continue;
    yield [held.join(''), ...lines];
    held = [last];
  }
  yield [held.join('')];
}

async function* splitIntoSlices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let place = 0; place < bytes.length; place += pieceLength) yield bytes.subarray(place, place + pieceLength);
}

async function* decodeWith(bytes: Uint8Array, decoder: TextDecoder): AsyncGenerator<string> {
  for await (const slice of splitIntoSlices(bytes)) yield decoder.decode(slice, { stream: true });
  yield decoder.decode();
}

function createDecoder(bytes: Uint8Array, declared: string): TextDecoder | undefined {
  try {
    const decoder = new TextDecoder(declared.trim().toLowerCase());
    const { encoding, isMarked } = detectEncoding(bytes.subarray(0, 1 << 18));
    const isTold = isMarked || encoding.startsWith('utf-') || decoder.encoding === 'utf-8' || decoder.encoding.startsWith('utf-16');
    return isTold ? undefined : decoder;
  } catch {
    return undefined;
  }
}
