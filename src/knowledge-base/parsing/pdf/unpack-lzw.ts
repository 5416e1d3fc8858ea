const clearCode = 256;
const endCode = 257;
const maxEntries = 4096;

/**
 * Codes of 9 to 12 bits, each an entry of a table that grows by what the one before and the first byte of this one make. `earlyChange` is the
 * format's: by how many entries too early codes become longer.
 */
export function* unpackLzw(packed: Uint8Array, earlyChange: 0 | 1): Generator<Uint8Array> {
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
