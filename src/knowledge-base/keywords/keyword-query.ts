import { cleanText } from '../parsing/clean-text.ts';
import { toCommonText } from './common-text.ts';
import { listCountedTermsOfQuery } from './counted-words.ts';
import { listKoreanStems } from './korean-stems.ts';
import { listCodesOfQuery, listNumberBeginnings, listSignedWords, splitCode, withoutSignedWords } from './numbers-and-codes.ts';
import { createStopWordTest, listAbbreviationTerms, isGrammaticalPair, splitAtStopWords } from './stop-words.ts';
import { listJapaneseStems, toLetterPairs, unspacedLetter } from './unspaced-scripts.ts';
import { listWordForms } from './word-forms.ts';

// `toIndexedText` says what the index holds, and the migrations that create `knowledge_chunk_search` how. Queries must split words the same way.

/** Further words of a query change its result little. */
const maxTerms = 64;
const minPartLength = 3;
const unspacedRuns = new RegExp(String.raw`((?:${unspacedLetter}\p{M}*)+)`, 'v');

/**
 * The FTS5 expression for the organization's chunks with any word of `query`, in `documentIds` or in all documents; null when the query has
 * no word. Words that say little are looked for only where there are no others. A word with signs in it, such as K-200, is searched as a
 * whole and by its longer parts.
 */
export function toMatchExpression(organizationId: number, query: string, documentIds?: number[]): string | null {
  const terms = listTerms(query);
  if (terms.length === 0) return null;
  const scopes = [`"organization${organizationId}"`, ...(documentIds ? [anyOf(documentIds.map((id) => `"document${id}"`))] : [])];
  return [...scopes.map((scope) => `scope : ${scope}`), `text : ${anyOf(terms)}`].join(' AND ');
}

const anyOf = (terms: string[]) => `(${terms.join(' OR ')})`;

/** `text`: words that follow one another in the index. */
interface Term {
  text: string;
  /** Whether it says little by itself. */
  isStopWord?: boolean;
  /** Whether it is only the beginning of the last word. */
  isBeginning?: boolean;
}

function listTerms(query: string): string[] {
  const all = [...readTerms(toCommonText(cleanText(query)))];
  const telling = all.filter(({ isStopWord }) => !isStopWord);
  const terms = telling.length > 0 ? telling : all;
  return [...new Set(terms.map(({ text, isBeginning }) => `"${text}"${isBeginning ? '*' : ''}`))].slice(0, maxTerms);
}

function* readTerms(text: string): Generator<Term> {
  const isStopWord = createStopWordTest(text);
  for (const { word, term } of listSignedWords(text))
    yield* [{ text: term }, ...toWordTerms(word, () => false).filter(({ text: part }) => part.length > 1)];
  for (const term of listAbbreviationTerms(text)) yield { text: term };
  for (const number of listNumberBeginnings(text)) yield { text: number, isBeginning: true };
  for (const term of listCountedTermsOfQuery(text)) yield { text: term };
  for (const { term, isCommon } of listKoreanStems(text)) yield { text: term, isStopWord: isCommon };
  for (const word of withoutSignedWords(text).split(/\s+/))
    for (const [index, run] of word.split(unspacedRuns).entries()) yield* index % 2 === 1 ? toPairTerms(run) : toWordTerms(run, isStopWord);
  for (const code of listCodesOfQuery(text, isStopWord))
    yield* [code, splitCode(code)].flatMap((one) => (one === null ? [] : [{ text: one.toLowerCase() }]));
}

function toPairTerms(run: string): Term[] {
  const telling = splitAtStopWords(run).flatMap(toLetterPairs);
  const isTelling = new Set(telling.filter((pair) => pair.includes(' ') && !isGrammaticalPair(pair)));
  const pairs = toLetterPairs(run).map((text) => ({ text, isStopWord: !isTelling.has(text) }));
  return [...pairs, ...listJapaneseStems(run).map((text) => ({ text }))];
}

function toWordTerms(run: string, isStopWord: (word: string) => boolean): Term[] {
  const parts = run.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? [];
  const toTerms = (part: string) => [part.toLowerCase(), ...listWordForms(part)].map((text) => ({ text, isStopWord: isStopWord(part) }));
  if (parts.length < 2) return parts.flatMap(toTerms);
  return [
    { text: parts.join(' ').toLowerCase(), isStopWord: parts.every(isStopWord) },
    ...parts.filter((part) => part.length >= minPartLength).flatMap(toTerms),
  ];
}
