import type { TextRun } from './page-runs.ts';

/** In font sizes: how much wider than the gaps between letters a gap between words is at least. */
const minWordGap = 0.2;
const minLetters = 4;
/** By how much distances that are alike may differ. */
const maxUnevenness = 0.05;
/** Only digits and signs, each for itself. They are a number in at least so many groups. */
const loneDigits = /^[\p{N}\p{P}+](?: [\p{N}\p{P}+]){3,}$/u;
const minGroups = 2;
const eastAsian = /^[\u2e80-\ud7ff\uf900-\uffef]$/u;
/** Letters in the middle of a line, as in a word that is printed wide instead of bold. */
const spacedWord = /(?<!\S)(?:\p{Ll} ){4,}\p{Ll}(?!\S)/gu;

/**
 * Joins letters that are printed apart ("S U M M A R Y") to words. `text`: the runs joined with their blanks. A single letter for each of
 * several things ("A B C D", "Y N N Y") stays as it is.
 */
export function joinSpacedLetters(text: string, runs: TextRun[]): string {
  const placed = isWord(lettersOf(runs)) ? joinPlacedLetters(runs, 1) : undefined;
  if (placed !== undefined) return placed;
  if (isSpacedOut(text)) return joinLetters(runs);
  // Digits that stand alone may be several things. Those in groups are a number.
  if (loneDigits.test(text)) return joinPlacedLetters(runs, minGroups) ?? text;
  return text.replace(spacedWord, (word) => (isWord(word.split(' ')) ? word.replaceAll(' ', '') : word));
}

const lettersOf = (runs: TextRun[]): string[] => runs.flatMap(({ text }) => (/\p{L}/u.test(text) ? [text.trim()] : []));

function isSpacedOut(text: string): boolean {
  const letters = text.split(/\s+/);
  if (letters.length < 2 || letters.some((letter) => [...letter].length > 1)) return false;
  return letters.every((letter) => eastAsian.test(letter)) || isWord(letters.filter((letter) => /\p{L}/u.test(letter)));
}

/** In font sizes: the widest usual gap between letters of a word, and the widest gap between its words, where they are placed one by one. */
const maxLetterGap = 0.9;
const maxPlacedWordGap = 2.5;
const lone = /^\s*[\p{L}\p{N}\p{P}\p{S}]\s*$/u;

/** The runs behind which a gap is none between cells, since the letters on both sides are placed alike and make words. */
export function findLetterGaps(runs: TextRun[]): Set<TextRun> {
  const inWords = new Set<TextRun>();
  let letters: TextRun[] = [];
  const end = () => {
    if (areWords(letters)) for (const letter of letters.slice(0, -1)) inWords.add(letter);
    letters = [];
  };
  for (const run of runs) {
    const last = letters.at(-1);
    if (!lone.test(run.text) || (last && (run.left - last.right) / run.size > maxPlacedWordGap)) end();
    if (lone.test(run.text)) letters.push(run);
  }
  end();
  return inWords;
}

function areWords(letters: TextRun[]): boolean {
  if (!isWord(lettersOf(letters))) return false;
  const gaps = letters.slice(1).map((run, index) => (run.left - letters[index]!.right) / run.size);
  return usualDistance(gaps) <= maxLetterGap && joinPlacedLetters(letters, 1) !== undefined;
}

/** Whether letters are a word: it has vowels and consonants, several letters, and is no part of the alphabet. */
function isWord(letters: string[]): boolean {
  if (letters.length < minLetters || new Set(letters).size < 3) return false;
  const codes = letters.map((letter) => letter.codePointAt(0) ?? 0);
  if (codes.every((code, index) => index === 0 || code === (codes[index - 1] ?? 0) + 1)) return false;
  const plain = letters.join('').normalize('NFD').toLowerCase();
  return !/[a-z]/.test(plain) || (/[aeiou]/.test(plain) && /[^aeiou]/.test(plain));
}

/**
 * Joins letters that are placed one by one. Between the letters of a word either the gaps are alike, or the distances from left to left are, and between words they are
 * wider. Undefined: they are not, or the letters are in fewer groups than asked for.
 */
function joinPlacedLetters(runs: TextRun[], minCount: number): string | undefined {
  if (runs.length < minLetters || runs.some(({ text }) => [...text.trim()].length !== 1)) return undefined;
  const gaps = runs.slice(1).map((run, index) => (run.left - runs[index]!.right) / run.size);
  const steps = runs.slice(1).map((run, index) => (run.left - runs[index]!.left) / run.size);
  const ends = findEmptyPlaces(steps) ?? findWordEnds(gaps);
  if (!ends || ends.filter(Boolean).length + 1 < minCount) return undefined;
  return runs.map(({ text }, index) => (ends[index - 1] === true ? ' ' : '') + text.trim()).join('');
}

const usualDistance = (distances: number[]): number =>
  distances.toSorted((one, other) => one - other)[Math.floor(distances.length / 3)] ?? 0;

/** Behind which letters a word ends, where each letter and blank has a place of the same width. Undefined: they have not. */
function findEmptyPlaces(steps: number[]): boolean[] | undefined {
  const usual = usualDistance(steps);
  const places = steps.map((step) => step / usual);
  return places.every((place) => place > 0.5 && Math.abs(place - Math.round(place)) <= maxUnevenness)
    ? places.map((place) => place > 1.5)
    : undefined;
}

/** Behind which letters a word ends: there the gaps are wider. Undefined: the others are not alike. */
function findWordEnds(gaps: number[]): boolean[] | undefined {
  const usual = usualDistance(gaps);
  const isUsual = (gap: number) => Math.abs(gap - usual) <= Math.max(0.03, usual * maxUnevenness);
  return gaps.every((gap) => isUsual(gap) || gap >= usual + minWordGap) ? gaps.map((gap) => !isUsual(gap)) : undefined;
}

/** The gaps between words are wider than those between letters; a run of several letters holds no gap between words. */
function joinLetters(runs: TextRun[]): string {
  const gaps = runs.slice(1).map((run, index) => (run.left - (runs[index]?.right ?? 0)) / run.size);
  const hasWords = runs.some(({ text }) => /\S\s+\S/.test(text));
  const narrow = usualDistance(gaps);
  return runs
    .map(({ text }, index) => {
      const gap = gaps[index - 1];
      const isParted = gap !== undefined && (hasWords ? gap > minWordGap : gap > narrow + Math.max(minWordGap, narrow * 0.4));
      return (isParted ? ' ' : '') + text.replace(/\s+/g, '');
    })
    .join('');
}
