import { cleanText } from '../parsing/clean-text.ts';

// How `knowledge_chunk_search` is fed is in the migration `knowledge_base`; what is asked of it must be written the same way.

/** Beyond so many words, more of them find nothing that the others do not. */
const maxTerms = 64;
const minPartLength = 3;
const unspacedScripts = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`;
const unspacedCharacters = new RegExp(unspacedScripts, 'gu');
const unspacedRuns = new RegExp(`(${unspacedScripts}+)`, 'u');

/** The text with blanks around each sign of a writing that has none between words; null where there is no such sign. */
export const separateUnspacedCharacters = (text: string): string | null =>
  text.search(unspacedCharacters) === -1 ? null : text.replace(unspacedCharacters, ' $& ');

/**
 * The FTS5 expression for the organization's chunks with any of the words of `query`, in these documents only where they are given; null when
 * there is no word in it. What is written in one, such as K-200, is looked for as a whole, and by its longer parts.
 */
export function toMatchExpression(organizationId: number, query: string, documentIds?: number[]): string | null {
  const terms = extractTerms(query);
  if (terms.length === 0) return null;
  const scopes = [`"organization${organizationId}"`, ...(documentIds ? [anyOf(documentIds.map((id) => `document${id}`))] : [])];
  return [...scopes.map((scope) => `scope : ${scope}`), `text : ${anyOf(terms)}`].join(' AND ');
}

const anyOf = (terms: string[]) => `(${terms.map((term) => `"${term}"`).join(' OR ')})`;

function extractTerms(query: string): string[] {
  const terms = new Set<string>();
  for (const word of cleanText(query).toLowerCase().split(/\s+/))
    for (const [index, run] of word.split(unspacedRuns).entries())
      for (const term of index % 2 === 1 ? toBigrams(run) : splitWordParts(run)) terms.add(term);
  return [...terms].slice(0, maxTerms);
}

/** Two signs at a time: words of such writings are mostly that long, and nobody says where they end. */
function toBigrams(run: string): string[] {
  const signs = [...run];
  return signs.length === 1 ? signs : signs.slice(1).map((sign, index) => `${signs[index]} ${sign}`);
}

function splitWordParts(run: string): string[] {
  const parts = run.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? [];
  if (parts.length < 2) return parts;
  return [parts.join(' '), ...parts.filter((part) => part.length >= minPartLength)];
}
