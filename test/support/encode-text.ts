/** Signs and their bytes in an encoding, which `TextDecoder` knows and `TextEncoder` does not. */
const signs = new Map<string, Map<string, number[]>>();

function signsOf(encoding: string): Map<string, number[]> {
  const known = signs.get(encoding);
  if (known) return known;
  const found = new Map<string, number[]>();
  const decoder = new TextDecoder(encoding);
  const add = (bytes: number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if ([...text].length === 1 && text !== '\ufffd' && !found.has(text)) found.set(text, bytes);
  };
  for (let byte = 0; byte < 256; byte += 1) add([byte]);
  if (/jis|euc|gb|big5/.test(encoding))
    for (let lead = 0x81; lead < 0xff; lead += 1) for (let trail = 0x40; trail < 0xff; trail += 1) add([lead, trail]);
  signs.set(encoding, found);
  return found;
}

/** A text in any encoding that `TextDecoder` knows, without a mark. Throws for a sign that the encoding lacks. */
export function encodeText(text: string, encoding: string): Uint8Array {
  if (encoding === 'utf-8') return new TextEncoder().encode(text);
  if (encoding.startsWith('utf-16'))
    return Uint8Array.from(
      Array.from({ length: text.length }, (_, index) => text.charCodeAt(index)).flatMap((unit) =>
        encoding === 'utf-16le' ? [unit & 0xff, unit >> 8] : [unit >> 8, unit & 0xff],
      ),
    );
  const isSwitched = encoding === 'iso-2022-jp';
  const known = signsOf(isSwitched ? 'euc-jp' : encoding);
  let isTwoBytes = false;
  const switchTo = (two: boolean): number[] => {
    if (!isSwitched || two === isTwoBytes) return [];
    isTwoBytes = two;
    return two ? [0x1b, 0x24, 0x42] : [0x1b, 0x28, 0x42];
  };
  const bytes = [...text].flatMap((sign) => {
    const written = known.get(sign);
    if (!written) throw new Error(`${encoding} has no ${sign}`);
    return [...switchTo(written.length === 2), ...written.map((byte) => (isSwitched ? byte & 0x7f : byte))];
  });
  return Uint8Array.from([...bytes, ...switchTo(false)]);
}
