/** The numbers in the names of the glyphs of ITC Zapf Dingbats, by their codes from 21 and from A1 (ISO 32000-1, D.6). 0: no glyph. */
const lowNames =
  '1-2 202 3-5 119 118 117 11-16 105 17-28 6-10 29-74 203 75 204 76-79 81-84 97-100 0 89 90 93 94 91 92 205 85 206 86-88 95 96';
const highNames =
  '101-104 106-108 112 111 110 109 120-159 160 161 163 164 196 165 192 166-173 162 174-179 193 180 199 181 200 182 0 201 183 184 197 185 194 198 186 195 187-191';

/** Signs at codes beside those that follow each other in the block of dingbats. */
const others: Record<number, number> = {
  0x25: 0x260e,
  0x2a: 0x261b,
  0x2b: 0x261e,
  0x48: 0x2605,
  0x6c: 0x25cf,
  0x6e: 0x25a0,
  0x73: 0x25b2,
  0x74: 0x25bc,
  0x75: 0x25c6,
  0x77: 0x25d7,
  0xa8: 0x2663,
  0xa9: 0x2666,
  0xaa: 0x2665,
  0xab: 0x2660,
  0xd5: 0x2192,
  0xd6: 0x2194,
  0xd7: 0x2195,
};

/** The character of a code of ITC Zapf Dingbats; null: it has none. */
export function findDingbat(code: number): string | null {
  const other = others[code];
  if (other !== undefined) return String.fromCodePoint(other);
  if (code > 0x20 && code < 0x7f) return String.fromCodePoint(0x2700 + code - 0x20);
  if (code >= 0x80 && code < 0x8e) return String.fromCodePoint(0x2768 + code - 0x80);
  if (code >= 0xac && code < 0xb6) return String.fromCodePoint(0x2460 + code - 0xac);
  return code > 0xa0 && code < 0xff && code !== 0xf0 ? String.fromCodePoint(0x2700 + code - 0x40) : null;
}

/** The codes of the glyphs, by their names such as `a20`. */
export function dingbatCodes(): Map<string, number> {
  const codes = new Map<string, number>();
  for (const [first, names] of [
    [0x21, lowNames],
    [0xa1, highNames],
  ] as const) {
    let code = first;
    for (const range of names.split(' ')) {
      const [from = 0, to = from] = range.split('-').map(Number);
      for (let name = from; name <= to; name += 1) codes.set(`a${name}`, code++);
    }
  }
  return codes;
}
