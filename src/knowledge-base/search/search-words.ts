import { cleanText } from '../parsing/clean-text.ts';

// How `knowledge_chunk_search` is fed is in the migration `knowledge_base`; what is asked of it must be written the same way.

/** Beyond so many words, more of them find nothing that the others do not. */
const mostTerms = 64;
const shortestPart = 3;
const unspaced = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]`;
const eachUnspaced = new RegExp(unspaced, 'gu');
const unspacedRuns = new RegExp(`(${unspaced}+)`, 'u');

/** The text with blanks around each sign of a writing that has none between words; null where there is no such sign. */
export const spacedOut = (text: string): string | null => (text.search(eachUnspaced) === -1 ? null : text.replace(eachUnspaced, ' $& '));

/**
 * The FTS5 expression for the organization's chunks with any of the words of `query`, in these documents only where they are given; null when
 * there is no word in it. What is written in one, such as K-200, is looked for as a whole, and by its longer parts.
 */
export function chunkMatch(organizationId: number, query: string, documentIds?: number[]): string | null {
  const terms = termsOf(query);
  if (terms.length === 0) return null;
  const scopes = [`"organization${organizationId}"`, ...(documentIds ? [anyOf(documentIds.map((id) => `document${id}`))] : [])];
  return [...scopes.map((scope) => `scope : ${scope}`), `text : ${anyOf(terms)}`].join(' AND ');
}

const anyOf = (terms: string[]) => `(${terms.map((term) => `"${term}"`).join(' OR ')})`;

function termsOf(query: string): string[] {
  const terms = new Set<string>();
  for (const word of cleanText(query).toLowerCase().split(/\s+/))
    for (const [index, run] of word.split(unspacedRuns).entries())
      for (const term of index % 2 === 1 ? pairsOf(run) : partsOf(run)) terms.add(term);
  return [...terms].slice(0, mostTerms);
}

/** Two signs at a time: words of such writings are mostly that long, and nobody says where they end. */
function pairsOf(run: string): string[] {
  const signs = [...run];
  return signs.length === 1 ? signs : signs.slice(1).map((sign, index) => `${signs[index]} ${sign}`);
}

function partsOf(run: string): string[] {
  const parts = run.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? [];
  if (parts.length < 2) return parts;
  return [parts.join(' '), ...parts.filter((part) => part.length >= shortestPart)];
}
