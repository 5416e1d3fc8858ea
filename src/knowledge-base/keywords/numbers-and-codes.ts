import { findNationalNumber } from '../../library/phone/national-number.ts';
import { unspacedLetter } from './unspaced-scripts.ts';

/** Before the digits of a number in the index, last digit first: a number without its country code is then the beginning of one with it. */
const numberMark = '\uE001';
/** Letters that stand for the signs of words such as `C++`, `C#`, `R&D` and `.NET`: the index takes them for letters. */
const signLetters: Record<string, string> = { '+': '\uE002', '#': '\uE003', '&': '\uE004', '.': '\uE005' };

const separator = String.raw`(?:[ \u00a0\(\).\/\-\u2010-\u2015]{1,3}|[,'\u2019])`;
const numberPattern = new RegExp(String.raw`(?:\+ ?)?\(?\d(?:${separator}?\d)+`, 'gv');
const [fewestDigits, mostDigits] = [6, 15];

/** The index's terms of phone numbers and other long numbers of a text, however their digits are grouped. */
export function listNumberTerms(text: string): string[] {
  return [...text.matchAll(numberPattern)].flatMap(([run]) => {
    const groups = digitGroups(run);
    // A row of numbers: each may end one.
    const ends = groups.join('').length <= mostDigits ? [groups.length] : groups.map((_, index) => index + 1);
    return ends.map((end) => toNumberTerm(groups.slice(Math.max(0, end - mostDigits), end).join(''))).filter((term) => term !== null);
  });
}

/** Beginnings of the terms under which the numbers of a query are found. */
export function listNumberBeginnings(query: string): string[] {
  return [...query.matchAll(numberPattern)].flatMap(([run]) => {
    const digits = digitGroups(run).join('').replace(/^0+/, '');
    return [digits, findNationalNumber(`+${digits}`)].flatMap((one) => toNumberTerm(one ?? '') ?? []);
  });
}

const digitGroups = (run: string): string[] => run.replace('(0)', '').match(/\d+/g) ?? [];

function toNumberTerm(digits: string): string | null {
  const significant = digits.slice(-mostDigits).replace(/^0+/, '');
  return significant.length < fewestDigits ? null : numberMark + [...significant].toReversed().join('');
}

const letterOrDigit = String.raw`[[\p{L}\p{N}]--${unspacedLetter}]`;
const linkedPattern = new RegExp(String.raw`${letterOrDigit}+(?:[\-\u2010-\u2015._\/]${letterOrDigit}+)*`, 'gv');
const links = /[-\u2010-\u2015._/]/g;
const longestCode = 24;
/** How many words before one may belong to its code: `AB 1234 X`. */
const wordsBefore = 2;

/**
 * Part numbers and other codes of a text, in one piece and lower case: `k200` of `K-200`. Of a code in parts also its beginnings: `ab1234` of
 * `AB-1234/5`. Short words in two parts (`email` of `e-mail`), versions and amounts are among them.
 */
export const listCodes = (text: string): string[] => [
  ...joinCodes(text, isWrittenAsCode),
  ...listBeginningsOfCodes(text),
  ...listSpellings(text),
];

/** As `listCodes`, of a query, where a code may be written in any case and with blanks. `isOther`: words that belong to none. */
export const listCodesOfQuery = (query: string, isOther: (word: string) => boolean): string[] => [
  ...joinCodes(query, (word) => /^x$/i.test(word) || (!isOther(word) && (/\p{N}/u.test(word) || word.length <= 8))),
  ...listSpellings(query),
];

function listBeginningsOfCodes(text: string): string[] {
  return [...text.matchAll(linkedPattern)].flatMap(([word]) => {
    const parts = word
      .slice(0, longestCode * 2)
      .toLowerCase()
      .split(links);
    return parts.slice(1).flatMap((_, index) => {
      const beginning = parts.slice(0, index + 1).join('');
      return index > 0 && isCode(beginning) ? [beginning] : [];
    });
  });
}

const shortWordInParts = new RegExp(String.raw`(?<![\p{L}\p{N}_.\/\-])(\p{L}{1,8})[\-\u2010\u2011](\p{L}{1,8})(?![\p{L}\p{N}_\/\-])`, 'gv');
const maxShortPart = 4;
const version = /(?<![\p{L}\p{N}.,])v?(\d{1,4}(?:\.\d{1,4}){2,3})(?![\p{L}\p{N}])/giu;
const amount = /(?<![\d.,'’])(\d{1,3}(?:([.,'’ ])\d{3})(?:\2\d{3}){0,3})(?:[.,]\d{1,2})?(?![\d'’]|[.,]\d)/gu;

/** One spelling of words, versions and amounts that people write in two: `wifi` of `Wi-Fi`, `v231` of `2.3.1`, `1299` of `1,299.00`. */
function listSpellings(text: string): string[] {
  const inParts = [...text.matchAll(shortWordInParts)].flatMap(([, one = '', other = '']) =>
    Math.min(one.length, other.length) <= maxShortPart ? [`${one}${other}`.toLowerCase()] : [],
  );
  const versions = [...text.matchAll(version)].map(([, digits = '']) => `v${digits.replaceAll('.', '')}`);
  const amounts = [...text.matchAll(amount)].map(([, digits = '']) => digits.replaceAll(/\D/g, ''));
  return [...inParts, ...versions, ...amounts];
}

function joinCodes(text: string, isPart: (word: string) => boolean): string[] {
  const codes: string[] = [];
  let before: string[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(linkedPattern)) {
    const joined = word.replaceAll(links, '').toLowerCase();
    if (joined.length < word.length && isCode(joined)) codes.push(joined);
    if (text.slice(end, index) !== ' ') before = [];
    end = index + word.length;
    if (!isPart(word)) {
      before = [];
      continue;
    }
    for (let first = before.length - 1; first >= 0; first--) {
      const code = before.slice(first).join('') + joined;
      if (isCode(code)) codes.push(code);
    }
    before = [...before, joined].slice(-wordsBefore);
  }
  return codes;
}

/** Digits alone are a number. */
const isCode = (joined: string): boolean => joined.length <= longestCode && /\p{N}/u.test(joined) && /\p{L}/u.test(joined);

/** Has digits, or is an abbreviation: `ISO 27001`, `iPhone 15`, `x 5`. */
const isWrittenAsCode = (word: string): boolean =>
  /\p{N}/u.test(word) || (word.length <= 8 && (/^.+\p{Lu}/u.test(word) || /^\p{L}$/u.test(word)));

/** The parts of a code where letters and digits meet: `k 200` of `k200`. Null: it has one part. */
export function splitCode(code: string): string | null {
  const parts = code.match(/\p{L}+|\p{N}+/gu) ?? [];
  return parts.length < 2 ? null : parts.join(' ');
}

const joinedByAnd = new RegExp(String.raw`(?<!${letterOrDigit})(${letterOrDigit}{1,20}) ?& ?(?=(${letterOrDigit}{1,20}))`, 'gv');
/** Words joined by `&`, as a whole. */
const joinedWords = new RegExp(String.raw`(?<!${letterOrDigit})${letterOrDigit}{1,20}(?: ?& ?${letterOrDigit}{1,20})+`, 'gv');
const signedBehind = new RegExp(String.raw`(?<!${letterOrDigit})(${letterOrDigit}{1,20})(\+\+|#|\+(?!${letterOrDigit}))`, 'gv');
const dotBefore = new RegExp(String.raw`(?<=^|[\s\(])\.(\p{L}${letterOrDigit}{1,20})`, 'gv');

/** A word with signs that belong to it, and its term in the index. */
export interface SignedWord {
  /** As it is written, without blanks. */
  word: string;
  term: string;
}

/** Words such as `C++`, `C#`, `AT&T`, `R & D` and `.NET`. */
export function listSignedWords(text: string): SignedWord[] {
  const words = [
    ...[...text.matchAll(joinedByAnd)].map(([, one, other]) => `${one}&${other}`),
    ...[...text.matchAll(signedBehind)].map(([, word, signs]) => `${word}${signs}`),
    ...[...text.matchAll(dotBefore)].map(([, word]) => `.${word}`),
  ];
  return words.map((word) => ({ word, term: word.toLowerCase().replaceAll(/[+#&.]/g, (sign) => signLetters[sign]!) }));
}

/** The text without the words that `listSignedWords` names. */
export const withoutSignedWords = (text: string): string =>
  [joinedWords, signedBehind, dotBefore].reduce((rest, pattern) => rest.replaceAll(pattern, ' '), text);
