const clearCode = 256;
const endCode = 257;
const maxEntries = 4096;

/**
 * Unpacks LZW: codes of 9 to 12 bits. Each code adds an entry to the table: the previous text and the first byte of the code's own.
 * `earlyChange`: by how many entries codes become longer too early (a PDF parameter).
 */
function* unpackLzw(packed: Uint8Array, earlyChange: 0 | 1): Generator<Uint8Array> {
  let entries: Uint8Array[] = [];
  let before: Uint8Array | undefined;
  let bits = 0;
  let count = 0;
  const begin = () => {
    entries = Array.from({ length: endCode + 1 }, (_, byte) => Uint8Array.of(byte));
    before = undefined;
  };
  begin();
  for (const byte of packed) {
    bits = ((bits << 8) | byte) & 0xffffff;
    count += 8;
    const width = toCodeWidth(entries.length + earlyChange);
    if (count < width) continue;
    count -= width;
    const code = (bits >> count) & ((1 << width) - 1);
    if (code === endCode) return;
    if (code === clearCode) {
      begin();
      continue;
    }
    const known: Uint8Array | undefined = entries[code];
    if (!known && !before) return;
    const entry: Uint8Array = known ?? appendByte(before!, before![0]!);
    if (before && entries.length < maxEntries) entries.push(appendByte(before, entry[0]!));
    before = entry;
    yield entry;
  }
}

function toCodeWidth(entries: number): number {
  if (entries >= 2048) return 12;
  if (entries >= 1024) return 11;
  return entries >= 512 ? 10 : 9;
}

function appendByte(bytes: Uint8Array, byte: number): Uint8Array {
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  longer[bytes.length] = byte;
  return longer;
}

const sliceBytes = 4096;
const zeros = new Uint8Array(4);

/** The filters in a stream's dictionary. */
export interface Packing {
  filters: string[];
  earlyChange: 0 | 1;
}

/** Unpacks a stream by its filters, piece by piece. A picture filter or damaged bytes end the output; the pieces before count. */
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
    // The bytes are damaged, or other bytes follow their end.
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

/** Run lengths: a byte below 128 is followed by that many literal bytes, a byte above 128 repeats the next byte. */
function* unpackRunLength(packed: Uint8Array): Generator<Uint8Array> {
  for (let place = 0; place < packed.length;) {
    const length = packed[place] ?? 128;
    if (length === 128) return;
    if (length < 128) yield packed.subarray(place + 1, place + 2 + length);
    else yield new Uint8Array(257 - length).fill(packed[place + 1] ?? 0);
    place += length < 128 ? length + 2 : 2;
  }
}
