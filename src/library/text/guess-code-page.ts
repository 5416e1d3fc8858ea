/** The code pages in which spreadsheet programs write CSV files that are not Unicode. */
export type CodePage = 'windows-1252' | 'windows-1250' | 'windows-1251' | 'shift_jis' | 'gb18030' | 'euc-kr';

/**
 * Guesses the code page: Windows-1252 unless the bytes make no sense in it. The guess goes by structure, not by frequency of words, since a
 * table of names has no prose: Western letters with accents occur alone between plain ones, Cyrillic ones in rows, East Asian ones in
 * pairs.
 */
export function guessCodePage(bytes: Uint8Array): CodePage {
  const seen = countBytes(bytes.subarray(0, 1 << 18));
  if (seen.strange >= seen.high * 0.15 && isDecodable(bytes, 'shift_jis')) return 'shift_jis';
  if (seen.inRuns > seen.high * 0.6) {
    if (seen.cyrillic >= seen.high * 0.95) return 'windows-1251';
    if (seen.oddRuns === 0) return seen.hangulLeads === seen.high / 2 ? 'euc-kr' : 'gb18030';
  }
  return seen.polish > 0 && seen.polish >= seen.high * 0.05 ? 'windows-1250' : 'windows-1252';
}

/** Unused in Windows-1252, or signs that do not occur in tables (‚ ƒ † ‡ ˆ ‰ ‹ ˜ ›); first bytes of common Japanese characters. */
const strangeBytes = new Set([0x81, 0x82, 0x83, 0x86, 0x87, 0x88, 0x89, 0x8b, 0x8d, 0x8f, 0x90, 0x98, 0x9b, 0x9d]);
/** Ё ё № and the letters of Ukrainian, which Windows-1251 has below its alphabet. */
const cyrillicBelowAlphabet = new Set([0xa5, 0xa8, 0xaa, 0xaf, 0xb2, 0xb3, 0xb4, 0xb8, 0xb9, 0xba, 0xbf]);
/** ł ą ż in Windows-1250; ³ ¹ ¿ in Windows-1252, where they never stand inside a word. */
const polishBytes = new Set([0xb3, 0xb9, 0xbf]);
const polishCapitals = new Set([0xa3, 0xaf]);

const isPlainLetter = (byte = 0) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
const isLetter = (byte = 0) => isPlainLetter(byte) || byte >= 0xc0 || polishBytes.has(byte) || byte === 0x9c || byte === 0x9f;

function countBytes(bytes: Uint8Array) {
  const seen = { high: 0, inRuns: 0, oddRuns: 0, strange: 0, cyrillic: 0, polish: 0, hangulLeads: 0 };
  let run = 0;
  for (let index = 0; index <= bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte < 0x80) {
      if (run > 2) seen.inRuns += run;
      if (run % 2 === 1) seen.oddRuns += 1;
      run = 0;
      continue;
    }
    run += 1;
    seen.high += 1;
    if (run % 2 === 1 && byte >= 0xb0 && byte <= 0xc8) seen.hangulLeads += 1;
    if (strangeBytes.has(byte)) seen.strange += 1;
    if (byte >= 0xc0 || cyrillicBelowAlphabet.has(byte)) seen.cyrillic += 1;
    const [before, after] = [bytes[index - 1], bytes[index + 1]];
    if (polishBytes.has(byte) && isLetter(before) && (isLetter(after) || isLetter(bytes[index - 2]))) seen.polish += 1;
    if (polishCapitals.has(byte) && !isLetter(before) && isPlainLetter(after)) seen.polish += 1;
  }
  return seen;
}

function isDecodable(bytes: Uint8Array, encoding: CodePage): boolean {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes) !== '';
  } catch {
    return false;
  }
}
