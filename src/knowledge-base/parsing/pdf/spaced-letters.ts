import type { TextRun } from './page-runs.ts';

/** In font sizes: how much wider than the gaps between letters a gap between words is at least. */
const minWordGap = 0.2;
const minLetters = 4;
const eastAsian = /^[\u2e80-\ud7ff\uf900-\uffef]$/u;
/** Letters in the middle of a line, as in a word that is printed wide instead of bold. */
const spacedWord = /(?<!\S)(?:\p{Ll} ){4,}\p{Ll}(?!\S)/gu;

/**
 * Joins letters that are printed apart ("S U M M A R Y") to words. `text`: the runs joined with their blanks. A single letter for each of
 * several things ("A B C D", "Y N N Y") stays as it is.
 */
export function joinSpacedLetters(text: string, runs: TextRun[]): string {
  if (isSpacedOut(text)) return joinLetters(runs);
  return text.replace(spacedWord, (word) => (isWord(word.split(' ')) ? word.replaceAll(' ', '') : word));
}

function isSpacedOut(text: string): boolean {
  const letters = text.split(/\s+/);
  if (letters.length < 2 || letters.some((letter) => [...letter].length > 1)) return false;
  return letters.every((letter) => eastAsian.test(letter)) || isWord(letters.filter((letter) => /\p{L}/u.test(letter)));
}

/** Whether letters are a word: it has vowels and consonants, several letters, and is no part of the alphabet. */
function isWord(letters: string[]): boolean {
  if (letters.length < minLetters || new Set(letters).size < 3) return false;
  const codes = letters.map((letter) => letter.codePointAt(0) ?? 0);
  if (codes.every((code, index) => index === 0 || code === (codes[index - 1] ?? 0) + 1)) return false;
  const plain = letters.join('').normalize('NFD').toLowerCase();
  return !/[a-z]/.test(plain) || (/[aeiou]/.test(plain) && /[^aeiou]/.test(plain));
}

/** The gaps between words are wider than those between letters; a run of several letters holds no gap between words. */
function joinLetters(runs: TextRun[]): string {
  const gaps = runs.slice(1).map((run, index) => (run.left - (runs[index]?.right ?? 0)) / run.size);
  const hasWords = runs.some(({ text }) => /\S\s+\S/.test(text));
  const narrow = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 3)] ?? 0;
  return runs
    .map(({ text }, index) => {
      const gap = gaps[index - 1];
      const isParted = gap !== undefined && (hasWords ? gap > minWordGap : gap > narrow + Math.max(minWordGap, narrow * 0.4));
      return (isParted ? ' ' : '') + text.replace(/\s+/g, '');
    })
    .join('');
}
