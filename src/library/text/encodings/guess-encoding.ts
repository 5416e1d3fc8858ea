import { dosCodePages } from './dos-code-pages.ts';
import { scoreAlphabet, scoreEastAsian } from './score-text.ts';

/** The encodings of the Encoding Standard that are not Unicode, by the name that `TextDecoder` gives them; the commoner ones first. `cost`: how rare it is. */
const alphabets: [name: string, cost: number][] = [
  ['windows-1252', 0],
  ['windows-1251', 2],
  ['windows-1250', 2],
  ['windows-1253', 2.5],
  ['windows-1254', 2.5],
  ['windows-1255', 2.5],
  ['windows-1256', 2.5],
  ['windows-874', 2.5],
  ['windows-1257', 3],
  ['koi8-r', 3],
  ['iso-8859-2', 3.5],
  ['iso-8859-5', 4],
  ['iso-8859-6', 4],
  ['iso-8859-7', 3.5],
  ['iso-8859-8', 3.5],
  ['iso-8859-15', 3],
  ['koi8-u', 3.5],
  ['ibm866', 4],
  ['macintosh', 4],
  ['windows-1258', 4],
  ['x-mac-cyrillic', 5],
  ['iso-8859-13', 5],
  ['iso-8859-3', 6],
  ['iso-8859-4', 6],
  ['iso-8859-10', 6],
  ['iso-8859-14', 6],
  ['iso-8859-16', 6],
];
type EastAsianLanguage = 'ja' | 'zh' | 'ko';
const eastAsian: [name: string, cost: number, language: EastAsianLanguage, isCommonLead: (lead: number) => boolean][] = [
  ['gb18030', 2.5, 'zh', (lead) => lead >= 0xb0 && lead <= 0xd7],
  ['big5', 2.5, 'zh', (lead) => lead >= 0xa4 && lead <= 0xc6],
  ['shift_jis', 2.5, 'ja', (lead) => lead >= 0x88 && lead <= 0x97],
  ['euc-jp', 3, 'ja', (lead) => lead >= 0xb0 && lead <= 0xcf],
  ['euc-kr', 2.5, 'ko', (lead) => lead >= 0xb0 && lead <= 0xc8],
];

/**
 * `isSure`: the text is likely in itself, and no other encoding gives another one that is about as likely. `candidates`: the likeliest first,
 * this one among them. `dosCodePage`: it gives a text that is likelier than theirs, but cannot be read.
 */
export interface EncodingGuess {
  encoding: string;
  isSure: boolean;
  candidates: string[];
  dosCodePage?: string;
}

const sampledBytes = 1 << 13;
const minMargin = 4;
/** Of a sign beyond ASCII, on average. Text of an alphabet in the right encoding is below 5, East Asian text below 9; text in a wrong one mostly above. */
const [maxAlphabetCost, maxEastAsianCost] = [5, 9];
/** How rare the code pages of DOS are. */
const dosCost = 6;
const maxCandidates = 5;

/** Guesses the encoding of bytes that are not UTF-8, by the letters that each encoding makes of them. */
export function guessEncoding(bytes: Uint8Array): EncodingGuess {
  const sample = sampleLines(bytes);
  const scored: { encoding: string; text: string; cost: number }[] = [];
  for (const [encoding, cost] of alphabets) {
    const text = decodeStrictly(sample, encoding);
    if (text !== null) scored.push({ encoding, text, cost: cost + scoreAlphabet(text) });
  }
  for (const [encoding, cost, language, isCommonLead] of eastAsian) {
    const text = decodeStrictly(sample, encoding);
    if (text !== null) scored.push({ encoding, text, cost: cost + scoreEastAsian(text, language, commonSigns(encoding, isCommonLead)) });
  }
  // Without blanks, digits and line ends, nothing else tells a short text in UTF-16.
  if (bytes.length <= sampledBytes && bytes.length % 2 === 0)
    for (const encoding of ['utf-16le', 'utf-16be']) {
      const text = decodeStrictly(bytes, encoding);
      const costs = eastAsian.map(([name, , language, isCommonLead]) =>
        scoreEastAsian(text ?? '', language, commonSigns(name, isCommonLead)),
      );
      if (text !== null && !/[\0-\u007f]/.test(text)) scored.push({ encoding, text, cost: 4 + Math.min(...costs) });
    }
  // Encodings that give the same text are one answer: the commonest of them.
  const answers = scored
    .toSorted((one, other) => one.cost - other.cost)
    .filter(({ text }, index, all) => all.findIndex((other) => other.text === text) === index);
  const [best, next] = answers;
  if (!best) return { encoding: 'windows-1252', isSure: false, candidates: ['windows-1252'] };
  const dosCodePage = findDosCodePage(sample, best.cost);
  return {
    encoding: best.encoding,
    isSure: (next === undefined || next.cost - best.cost >= minMargin) && dosCodePage === undefined && isLikely(best),
    candidates: answers.slice(0, maxCandidates).map(({ encoding }) => encoding),
    ...(dosCodePage && { dosCodePage }),
  };
}

/** Whether the signs of a text are those of a language, in their places. */
function isLikely({ encoding, text, cost }: { encoding: string; text: string; cost: number }): boolean {
  const isAlphabet = alphabets.some(([name]) => name === encoding);
  const signs = [...text].filter((sign) => sign > '\u007f').length;
  // The rarity of the encoding is in the cost, and weighs on short texts alone.
  return cost <= signs * (isAlphabet ? maxAlphabetCost : maxEastAsianCost);
}

/** The code page of DOS in which the bytes are likelier a text than one that costs `cost`. */
function findDosCodePage(sample: Uint8Array, cost: number): string | undefined {
  const scored = Object.entries(dosCodePages).map(([name, signs]) => {
    const text = Array.from(sample, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : signs[byte - 0x80]!)).join('');
    return { name, cost: dosCost + scoreAlphabet(text) };
  });
  const [best] = scored.toSorted((one, other) => one.cost - other.cost);
  return best && best.cost < cost + 1 ? best.name : undefined;
}

/** The lines that are not ASCII, up to a limit, without stray NUL. */
function sampleLines(bytes: Uint8Array): Uint8Array {
  const parts: number[] = [];
  let start = 0;
  while (start < bytes.length && parts.length < sampledBytes) {
    const lineEnd = bytes.indexOf(10, start);
    const end = Math.min(lineEnd === -1 ? bytes.length : lineEnd + 1, start + sampledBytes);
    const line = bytes.subarray(start, end);
    if (line.some((byte) => byte >= 0x80)) parts.push(...line);
    start = end;
  }
  return Uint8Array.from(parts.filter((byte) => byte !== 0));
}

function decodeStrictly(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

const signsByEncoding = new Map<string, Set<string>>();

/** The signs in the part of an encoding that its standard gives to those in daily use. */
function commonSigns(encoding: string, isCommonLead: (lead: number) => boolean): (sign: string) => boolean {
  let signs = signsByEncoding.get(encoding);
  if (signs === undefined) {
    const bytes: number[] = [];
    for (let lead = 0x81; lead <= 0xfe; lead += 1)
      if (isCommonLead(lead)) for (let trail = 0x40; trail <= 0xfe; trail += 1) if (trail !== 0x7f) bytes.push(lead, trail);
    signs = new Set(new TextDecoder(encoding).decode(Uint8Array.from(bytes)));
    signs.delete('\ufffd');
    signsByEncoding.set(encoding, signs);
  }
  return (sign) => signs.has(sign);
}
