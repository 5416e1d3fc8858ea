// Korean writes blanks, but its words carry endings that no blank separates.
const letters = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]&&[\p{L}\p{N}\p{M}]]`;

/** A letter of a script without blanks between words, as the source of a pattern with the flag `v`. */
export const unspacedLetter = letters;

/** A letter with the signs above, below and behind it. */
const cluster = new RegExp(String.raw`${letters}\p{M}*`, 'gv');

/** The text with blanks around each letter of a script without blanks between words; null when it has no such letter. */
export function separateUnspacedLetters(text: string): string | null {
  return text.search(cluster) === -1 ? null : text.replace(cluster, (letter) => ` ${withSignsAsLetters(letter)} `);
}

/** Pairs of neighbouring letters of a run: most words of such scripts have two, and nothing marks their ends. */
export function toLetterPairs(run: string): string[] {
  const found = (run.match(cluster) ?? []).map(withSignsAsLetters);
  return found.length < 2 ? found : found.slice(1).map((letter, index) => `${found[index]} ${letter}`);
}

const japaneseStem = /(?<!\p{sc=Han})(?![何今私時方事物])\p{sc=Han}(?=[^\P{sc=Hira}をはがにでとものへや])/gu;

/** Single Chinese letters of a run before Japanese ones: stems of verbs and adjectives, whose endings change (`開` of `開きます` and `開いて`). */
export const listJapaneseStems = (run: string): string[] => run.match(japaneseStem) ?? [];

/** Where the private-use letters for the signs of each block begin. The index takes those for letters, and a sign for the end of a word. */
const blocks = [
  { first: 0x0e00, last: 0x109f, to: 0xe100 },
  { first: 0x1780, last: 0x17ff, to: 0xe400 },
];

function withSignsAsLetters(letter: string): string {
  return letter.replaceAll(/\p{M}/gu, (sign) => {
    const code = sign.codePointAt(0)!;
    const block = blocks.find(({ first, last }) => code >= first && code <= last);
    return block ? String.fromCodePoint(code - block.first + block.to) : sign;
  });
}
