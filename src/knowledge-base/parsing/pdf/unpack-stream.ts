import { unpackLzw } from './unpack-lzw.ts';

const sliceBytes = 4096;
const zeros = new Uint8Array(4);

/** How a stream's dictionary says that its bytes are packed. */
export interface Packing {
  filters: string[];
  earlyChange: 0 | 1;
}

/**
 * What a stream's bytes unpack to by its filters, piece by piece; a filter for pictures ends it. Damaged bytes end it too: what came before
 * counts.
 */
export async function* unpackStream(bytes: Uint8Array, { filters, earlyChange }: Packing): AsyncGenerator<Uint8Array> {
  let packed = bytes;
  for (const filter of filters) {
    if (/^(?:ASCIIHexDecode|AHx)$/.test(filter)) packed = unpackHex(packed);
    else if (/^(?:ASCII85Decode|A85)$/.test(filter)) packed = unpackBase85(packed);
    else if (/^(?:RunLengthDecode|RL)$/.test(filter)) return yield* unpackRunLength(packed);
    else if (/^(?:LZWDecode|LZW)$/.test(filter)) return yield* unpackLzw(packed, earlyChange);
    else if (/^(?:FlateDecode|Fl)$/.test(filter)) return yield* inflate(packed);
    else return;
  }
  yield packed;
}

async function* inflate(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  try {
    yield* toSliceStream(packed).pipeThrough(new DecompressionStream('deflate'));
  } catch {
    // Damaged, or with something behind its end.
  }
}

function toSliceStream(bytes: Uint8Array): ReadableStream<BufferSource> {
  let place = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(place, place + sliceBytes));
      place += sliceBytes;
      if (place >= bytes.length) controller.close();
    },
  });
}

function unpackHex(packed: Uint8Array): Uint8Array {
  const unpacked = new Uint8Array((packed.length + 1) >> 1);
  let count = 0;
  for (const byte of packed) {
    if (byte === 0x3e) break;
    const digit = parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) continue;
    unpacked[count >> 1] = (unpacked[count >> 1] ?? 0) | (count % 2 === 0 ? digit << 4 : digit);
    count += 1;
  }
  return unpacked.subarray(0, (count + 1) >> 1);
}

function unpackBase85(packed: Uint8Array): Uint8Array {
  let length = 0;
  for (const byte of packed) length += byte === 0x7a ? 4 : 1;
  const unpacked = new Uint8Array(length + 4);
  const view = new DataView(unpacked.buffer);
  let place = 0;
  let digits = 0;
  let value = 0;
  for (const byte of packed) {
    if (byte === 0x7e) break;
    if (byte === 0x7a && digits === 0) {
      unpacked.set(zeros, place);
      place += 4;
    } else if (byte >= 0x21 && byte <= 0x75) {
      value = value * 85 + byte - 0x21;
      digits += 1;
      if (digits < 5) continue;
      view.setUint32(place, value % 2 ** 32);
      place += 4;
      digits = value = 0;
    }
  }
  if (digits > 1) {
    for (let missing = digits; missing < 5; missing += 1) value = value * 85 + 84;
    view.setUint32(place, value % 2 ** 32);
    place += digits - 1;
  }
  return unpacked.subarray(0, place);
}

/** Below 128 a byte says how many follow as they are, above it how often the next one is repeated. */
function* unpackRunLength(packed: Uint8Array): Generator<Uint8Array> {
  for (let place = 0; place < packed.length;) {
    const length = packed[place] ?? 128;
    if (length === 128) return;
    if (length < 128) yield packed.subarray(place + 1, place + 2 + length);
    else yield new Uint8Array(257 - length).fill(packed[place + 1] ?? 0);
    place += length < 128 ? length + 2 : 2;
  }
}
