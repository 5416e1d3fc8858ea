type Utf16 = 'utf-16le' | 'utf-16be';

const sampledBytes = 1 << 16;

/**
 * UTF-16 without a mark. Blanks, digits and line ends have a zero byte in every writing, and the letters of an alphabet have the number of its block, which no other
 * text has so often. A few zero bytes in text of another encoding are strays. `null`: there are zero bytes, and the file is no text.
 */
export function detectUtf16(bytes: Uint8Array): Utf16 | null | undefined {
  const head = bytes.subarray(0, Math.min(bytes.length & ~1, sampledBytes));
  const [even, odd] = [countSide(head, 0), countSide(head, 1)];
  if (
    even.zeros + odd.zeros === 0 &&
    !isOneSided(even.blocks, odd.blocks, head.length) &&
    !isOneSided(odd.blocks, even.blocks, head.length)
  )
    return undefined;
  if (hasStrayZeros(even, odd, head)) return undefined;
  const likelier: Utf16[] = odd.zeros < even.zeros ? ['utf-16be', 'utf-16le'] : ['utf-16le', 'utf-16be'];
  const decoded = likelier.map((encoding) => ({ encoding, text: new TextDecoder(encoding).decode(head) }));
  const [best] = decoded.toSorted((one, other) => countUnusual(one.text) - countUnusual(other.text));
  return best && !isStrange(best.text) ? best.encoding : null;
}

const isOneSided = (one: number, other: number, length: number): boolean => length >= 4 && one >= length * 0.4 && other <= length * 0.1;

/** The shares of a side's bytes among these many ranges are compared. */
const comparedRanges = 8;

/**
 * Whether zero bytes are few in text that is UTF-8, or whose sides have the same bytes otherwise, as in text of one byte a character. In UTF-16 one side
 * numbers the blocks of a writing, and the other one its characters.
 */
function hasStrayZeros(even: Side, odd: Side, head: Uint8Array): boolean {
  const sides = [even, odd].map((side) => ({ side, rest: side.ranges.reduce((sum, count) => sum + count, 0) }));
  if (sides.some(({ side: { zeros, blocks }, rest }) => zeros * 3 > rest || blocks * 4 > rest)) return false;
  if (isUtf8(head)) return true;
  const [one, other] = sides as [(typeof sides)[number], (typeof sides)[number]];
  const alike = one.side.ranges.reduce((sum, count, range) => sum + Math.min(count / one.rest, other.side.ranges[range]! / other.rest), 0);
  return alike >= 0.6;
}

function isUtf8(head: Uint8Array): boolean {
  try {
    // The end of the sample may cut a character in two.
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** `blocks`: the bytes that number the blocks of alphabets, which are controls elsewhere. `ranges`: the bytes from 1 in ranges of equal width. */
interface Side {
  zeros: number;
  blocks: number;
  ranges: number[];
}

function countSide(bytes: Uint8Array, side: 0 | 1): Side {
  const counts = new Uint32Array(256);
  for (let index = side; index < bytes.length; index += 2) counts[bytes[index]!]! += 1;
  const blocks = counts.subarray(1, 0x20).reduce((sum, count) => sum + count, 0) - counts[0x0a]! - counts[0x0d]!;
  const width = counts.length / comparedRanges;
  const ranges = Array.from({ length: comparedRanges }, (_, range) =>
    counts.subarray(Math.max(1, range * width), (range + 1) * width).reduce((sum, count) => sum + count, 0),
  );
  return { zeros: counts[0]!, blocks, ranges };
}

/** The great writings: first and last code unit of their blocks. */
const usualBlocks = [
  [0x09, 0x0d],
  [0x20, 0x24f],
  [0x370, 0x6ff],
  [0x900, 0xe7f],
  [0x1e00, 0x1eff],
  [0x2010, 0x2122],
  [0x3000, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7af],
  [0xff00, 0xffef],
] as const;

/** The characters of other blocks. Bytes in the wrong order give many. */
function countUnusual(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (!usualBlocks.some(([first, last]) => unit >= first && unit <= last)) count += 1;
  }
  return count;
}

function isStrange(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
  const strange = text.match(/[\0-\u0008\u000e-\u001f\ufffd\p{Co}\p{Cn}]/gu)?.length ?? 0;
  return strange > text.length / 50;
}
