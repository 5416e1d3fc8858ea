import { detectEncoding, rejectBinary, UnreadableFileError } from './decode-text.ts';
import type { ControlCount } from './decode-text.ts';

const sampleBytes = 1 << 18;
const controlZ = '\u001a';

/**
 * The text of a file of any length, in pieces, decoded as by `decodeText`. Half a MiB is held back: while all bytes are ASCII every
 * encoding gives the same text, and the first other bytes show the encoding. Throws `UnreadableFileError` at bytes that are no text.
 */
export async function* decodeTextStream(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined, undefined> {
  const chunks = bytes[Symbol.asyncIterator]();
  let held = '';
  let seen: ControlCount | undefined;
  try {
    for await (const { text, isMarked } of decodePieces(chunks)) {
      const piece = held + text;
      // Spreadsheets of the DOS age end a file with control-Z.
      held = piece.endsWith(controlZ) ? controlZ : '';
      const whole = held ? piece.slice(0, -1) : piece;
      seen = rejectBinary(whole, isMarked, seen);
      if (whole !== '') yield whole;
    }
  } finally {
    await chunks.return?.();
  }
}

async function* decodePieces(chunks: AsyncIterator<Uint8Array>): AsyncGenerator<{ text: string; isMarked: boolean }> {
  let sample = await readAtLeast(chunks, [], sampleBytes);
  if (sample.length === 0) throw new UnreadableFileError('The file is empty');
  let { encoding, isMarked } = detectEncoding(upToSeparator(sample));
  if (!isMarked && !encoding.startsWith('utf-16')) {
    let foreign = findNonAsciiByte(sample);
    while (foreign === -1) {
      yield { text: new TextDecoder().decode(sample), isMarked };
      sample = await readAtLeast(chunks, [], sampleBytes);
      if (sample.length === 0) return;
      foreign = findNonAsciiByte(sample);
    }
    sample = await readAtLeast(chunks, [sample], foreign + sampleBytes);
    ({ encoding } = detectEncoding(upToSeparator(sample.subarray(foreign))));
  }

  const decoder = new TextDecoder(encoding);
  yield { text: decoder.decode(sample, { stream: true }), isMarked };
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next())
    yield { text: decoder.decode(chunk.value, { stream: true }), isMarked };
  // UTF-16 that lost its last byte loses one character.
  if (!encoding.startsWith('utf-16')) yield { text: decoder.decode(), isMarked };
}

const findNonAsciiByte = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte >= 0x80);

/** `have` and further chunks up to `wanted` bytes, or to the end of the stream. */
async function readAtLeast(chunks: AsyncIterator<Uint8Array>, have: Uint8Array[], wanted: number): Promise<Uint8Array> {
  const parts = [...have];
  let length = have.reduce((sum, part) => sum + part.length, 0);
  while (length < wanted) {
    const chunk = await chunks.next();
    if (chunk.done) break;
    parts.push(chunk.value);
    length += chunk.value.length;
  }
  const all = new Uint8Array(length);
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}

/** Without a character that the end cuts in two: bytes below 0x30 are whole characters in every encoding but UTF-16. */
function upToSeparator(bytes: Uint8Array): Uint8Array {
  const last = bytes.findLastIndex((byte) => byte < 0x30);
  return last === -1 ? bytes : bytes.subarray(0, last + 1);
}
