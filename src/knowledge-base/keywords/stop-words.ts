import {
  ara,
  ces,
  dan,
  deu,
  ell,
  eng,
  fas,
  fin,
  fra,
  heb,
  hin,
  hun,
  ind,
  ita,
  jpn,
  kor,
  nld,
  nob,
  pol,
  por,
  ron,
  rus,
  spa,
  swe,
  tha,
  tur,
  ukr,
  vie,
  zho,
} from 'stopword';
import { foldWord } from './word-forms.ts';

/** Of questions to a help desk, and not in the list of the package. */
const english = [...eng, 'i', 'we', 'you', 'your', 'will', 'when', 'while', 'shall', 'there', 'these', 'those'];

const spaced = [
  ara,
  ces,
  dan,
  deu,
  ell,
  english,
  fas,
  fin,
  fra,
  heb,
  hin,
  hun,
  ind,
  ita,
  kor,
  nld,
  nob,
  pol,
  por,
  ron,
  rus,
  spa,
  swe,
  tur,
  ukr,
  vie,
];
const stopWordsByLanguage = spaced.map((list) => new Set(list.map(foldWord)));

const words = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * Tells of the words of a query which say little by themselves. A query is of the language of which it has most such words, so that "die" is
 * one in German alone. A word in capitals, such as IT or US, is none where others have small letters.
 */
export function createStopWordTest(query: string): (word: string) => boolean {
  const own = (query.match(words) ?? []).map(foldWord);
  const counts = stopWordsByLanguage.map((list) => own.filter((word) => list.has(word)).length);
  const most = Math.max(...counts);
  if (most === 0) return () => false;
  const lists = stopWordsByLanguage.filter((_, index) => counts[index] === most);
  const hasSmallLetters = /\p{Ll}/u.test(query);
  return (word) => !(hasSmallLetters && /^\p{Lu}{2,}$/u.test(word)) && lists.some((list) => list.has(foldWord(word)));
}

/** Before an abbreviation in the index that in small letters says little. */
const abbreviationMark = '\uE006';
const everyStopWord = new Set(spaced.flat().map(foldWord));

/** The terms of abbreviations such as IT, US and WHO, by which these are told from "it", "us" and "who". */
export const listAbbreviationTerms = (text: string): string[] =>
  (text.match(/(?<![\p{L}\p{N}])\p{Lu}{2,6}(?![\p{L}\p{N}])/gu) ?? [])
    .map((word) => word.toLowerCase())
    .filter((word) => everyStopWord.has(word))
    .map((word) => abbreviationMark + word);

/** Words of Thai, Chinese and Japanese that split a run of letters; single letters of the latter two are part of too many words. */
const splitting = [...tha.filter((word) => word.length > 1), ...[...zho, ...jpn].filter((word) => word.length > 1)].toSorted(
  (one, other) => other.length - one.length,
);
const koreanEnding =
  /(?<=\p{sc=Hang}{2})(?:으로|에서|에게|까지|부터|은|는|이|가|을|를|에|의|로|와|과|도|만|입니까|합니까|됩니까|습니까|하나요|되나요|있나요|인가요|나요|까요|니다|세요)$/u;
const splittingPattern = new RegExp(splitting.join('|'), 'u');

/** The parts of a run of letters without blanks that say something. */
export const splitAtStopWords = (run: string): string[] => run.replace(koreanEnding, '').split(splittingPattern).filter(Boolean);

/** Whether a pair of Japanese letters is an ending or a particle, as good as always: words that say something have other letters. */
export const isGrammaticalPair = (pair: string): boolean => /^[\p{sc=Hira}ー ]+$/u.test(pair);
