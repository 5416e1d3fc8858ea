import { UnreadableFileError, detectEncoding } from '../../../library/text/decode-text.ts';
import { decodeTextStream } from '../../../library/text/decode-text-stream.ts';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import { pieceLength } from '../limits.ts';
import { emptyDocument, unsupportedType } from '../unparsable-document.ts';

/**
 * Decodes a file in pieces, so that the whole text is never in memory, and lets requests go first between two pieces. `declared`: the encoding that the file names; it counts unless the
 * bytes are UTF-8 or begin with a byte order mark.
 */
export async function* decodeTextPieces(bytes: Uint8Array, declared?: string): AsyncGenerator<string, undefined, undefined> {
  const decoder = declared === undefined ? undefined : createDecoder(bytes, declared);
  let length = 0;
  try {
    for await (const piece of decoder ? decodeWith(bytes, decoder) : decodeTextStream(splitIntoSlices(bytes))) {
      length += piece.trim().length;
      yield* splitText(piece);
    }
  } catch (error) {
    if (error instanceof UnreadableFileError) throw unsupportedType('neither text nor a known kind of document');
    throw error;
  }
  if (length === 0) throw emptyDocument('The file holds nothing but blanks');
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
