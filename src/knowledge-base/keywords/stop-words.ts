import * as words from 'stopword';
import { lazily } from '../../library/lazily.ts';
import { foldWord } from './word-forms.ts';

/** Of questions to a help desk, and not in the list of the package. */
const english = [...words.eng, 'i', 'we', 'you', 'your', 'will', 'when', 'while', 'shall', 'there', 'these', 'those'];

const spaced = [
  words.ara,
  words.ces,
  words.dan,
  words.deu,
  words.ell,
  english,
  words.fas,
  words.fin,
  words.fra,
  words.heb,
  words.hin,
  words.hun,
  words.ind,
  words.ita,
  words.kor,
  words.nld,
  words.nob,
  words.pol,
  words.por,
  words.ron,
  words.rus,
  words.spa,
  words.swe,
  words.tur,
  words.ukr,
  words.vie,
];
const stopWordsByLanguage = lazily(() => spaced.map((list) => new Set(list.map(foldWord))));

const wordPattern = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * Tells of the words of a query which say little by themselves. A query is of the language of which it has most such words, so that "die" is
 * one in German alone. A word in capitals, such as IT or US, is none where others have small letters.
 */
export function createStopWordTest(query: string): (word: string) => boolean {
  const own = (query.match(wordPattern) ?? []).map(foldWord);
  const counts = stopWordsByLanguage().map((list) => own.filter((word) => list.has(word)).length);
  const most = Math.max(...counts);
  if (most === 0) return () => false;
  const lists = stopWordsByLanguage().filter((_, index) => counts[index] === most);
  const hasSmallLetters = /\p{Ll}/u.test(query);
  return (word) => !(hasSmallLetters && /^\p{Lu}{2,}$/u.test(word)) && lists.some((list) => list.has(foldWord(word)));
}

/** Before an abbreviation in the index that in small letters says little. */
const abbreviationMark = '\uE006';

/** The terms of abbreviations such as IT, US and WHO, by which these are told from "it", "us" and "who". */
export const listAbbreviationTerms = (text: string): string[] =>
  (text.match(/(?<![\p{L}\p{N}])\p{Lu}{2,6}(?![\p{L}\p{N}])/gu) ?? [])
    .map((word) => word.toLowerCase())
    .filter((word) => stopWordsByLanguage().some((list) => list.has(word)))
    .map((word) => abbreviationMark + word);

/** Words of Thai, Chinese and Japanese that split a run of letters; single letters of the latter two are part of too many words. */
const splittingPattern = lazily(() => {
  const splitting = [...words.tha, ...words.zho, ...words.jpn].filter((word) => word.length > 1);
  return new RegExp(splitting.toSorted((one, other) => other.length - one.length).join('|'), 'u');
});
const koreanEnding =
  /(?<=\p{sc=Hang}{2})(?:으로|에서|에게|까지|부터|은|는|이|가|을|를|에|의|로|와|과|도|만|입니까|합니까|됩니까|습니까|하나요|되나요|있나요|인가요|나요|까요|니다|세요)$/u;

/** The parts of a run of letters without blanks that say something. */
export const splitAtStopWords = (run: string): string[] => run.replace(koreanEnding, '').split(splittingPattern()).filter(Boolean);

/** Whether a pair of Japanese letters is an ending or a particle, as good as always: words that say something have other letters. */
export const isGrammaticalPair = (pair: string): boolean => /^[\p{sc=Hira}ー ]+$/u.test(pair);
