import { unspacedScripts } from '../chunks/separate-unspaced-characters.ts';
import { cleanText } from '../parsing/clean-text.ts';

// The migration `knowledge_base` fills `knowledge_chunk_search`. Queries must split words the same way.

/** Further words of a query change its result little. */
const maxTerms = 64;
const minPartLength = 3;
const unspacedRuns = new RegExp(`(${unspacedScripts}+)`, 'u');

/**
 * The FTS5 expression for the organization's chunks with any word of `query`, in `documentIds` or in all documents; null when the query has
 * no word. A word with signs in it, such as K-200, is searched as a whole and by its longer parts.
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

/** Pairs of neighbouring characters: most words of scripts without blanks have two, and nothing marks their ends. */
function toBigrams(run: string): string[] {
  const characters = [...run];
  return characters.length === 1 ? characters : characters.slice(1).map((character, index) => `${characters[index]} ${character}`);
}

function splitWordParts(run: string): string[] {
  const parts = run.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? [];
  if (parts.length < 2) return parts;
  return [parts.join(' '), ...parts.filter((part) => part.length >= minPartLength)];
}
