import { chooseEncoding, decodeAsNamed, detectEncoding, emptyFile, rejectBinary, showStrayNuls } from './decode-text.ts';
import type { ControlCount, DetectedEncoding } from './decode-text.ts';

const sampleBytes = 1 << 18;
const controlZ = '\u001a';

/** `encoding`: the one that the sender names. `onDetected` is told the encoding as soon as it is known, and may throw; it is not told that a file is ASCII. */
export interface DecodingOptions {
  encoding?: string | undefined;
  onDetected?: (detected: DetectedEncoding) => void;
}

/**
 * The text of a file of any length, in pieces, decoded as by `decodeText`. Half a MiB is held back: while all bytes are ASCII every
 * encoding gives the same text, and the first other bytes show the encoding. Throws `UnreadableFileError` at bytes that are no text, and
 * `UncertainEncoding` at bytes that are none in the named encoding.
 */
export async function* decodeTextStream(
  bytes: AsyncIterable<Uint8Array>,
  options: DecodingOptions = {},
): AsyncGenerator<string, undefined, undefined> {
  const chunks = bytes[Symbol.asyncIterator]();
  let held = '';
  let seen: ControlCount | undefined;
  try {
    for await (const { text, isMarked } of decodePieces(chunks, options)) {
      const piece = held + text;
      // Spreadsheets of the DOS age end a file with control-Z.
      held = piece.endsWith(controlZ) ? controlZ : '';
      const whole = held ? piece.slice(0, -1) : piece;
      seen = rejectBinary(whole, { isMarked, named: isMarked ? undefined : options.encoding }, seen);
      if (whole !== '') yield showStrayNuls(whole);
    }
  } finally {
    await chunks.return?.();
  }
}

async function* decodePieces(
  chunks: AsyncIterator<Uint8Array>,
  { encoding: named, onDetected }: DecodingOptions,
): AsyncGenerator<{ text: string; isMarked: boolean }> {
  let sample = await readAtLeast(chunks, [], sampleBytes);
  if (sample.length === 0) throw emptyFile();
  let detected = named === undefined ? detectEncoding(upToSeparator(sample)) : chooseEncoding(sample, named);
  const { isMarked } = detected;
  if (named === undefined && !isMarked && !detected.encoding.startsWith('utf-16')) {
    let foreign = findForeignByte(sample);
    while (foreign === -1) {
      yield { text: new TextDecoder().decode(sample), isMarked };
      sample = await readAtLeast(chunks, [], sampleBytes);
      if (sample.length === 0) return;
      foreign = findForeignByte(sample);
    }
    sample = await readAtLeast(chunks, [sample], foreign + sampleBytes);
    detected = detectEncoding(upToSeparator(sample.subarray(foreign)));
  }
  onDetected?.(detected);

  const { encoding } = detected;
  const isNamed = named !== undefined && !isMarked;
  const decoder = new TextDecoder(encoding, { fatal: isNamed, ignoreBOM: false });
  const decode = (bytes?: Uint8Array) =>
    isNamed ? decodeAsNamed(decoder, bytes, { stream: bytes !== undefined }) : decoder.decode(bytes, { stream: bytes !== undefined });
  yield { text: decode(sample), isMarked };
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) yield { text: decode(chunk.value), isMarked };
  // UTF-16 that lost its last byte loses one character.
  if (!encoding.startsWith('utf-16')) yield { text: decode(), isMarked };
}

/** The first byte that is not the same in every encoding: one beyond ASCII, or an escape, which switches in ISO-2022-JP. */
const findForeignByte = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte >= 0x80 || byte === 0x1b);

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
