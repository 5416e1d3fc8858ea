import { toCommonText } from './common-text.ts';
import { listCountedTerms } from './counted-words.ts';
import { listKoreanStems } from './korean-stems.ts';
import { listCodes, listNumberTerms, listSignedWords } from './numbers-and-codes.ts';
import { listAbbreviationTerms } from './stop-words.ts';
import { separateUnspacedLetters } from './unspaced-scripts.ts';
import { listWordForms } from './word-forms.ts';

/** What the index holds of a text, beside or instead of the text itself. */
export interface IndexedText {
  /** The text with blanks around the letters of scripts that have none between words; null: the text itself. */
  search_text: string | null;
  /** Numbers, codes and words with signs in one spelling, and other forms of words, each once, with blanks between them; null: none. */
  search_terms: string | null;
}

/** Letters for which `listWordForms` may know another spelling. */
const unusual =
  /[ß\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00bc-\u00be\u0132-\u0133\u2070-\u218f\u2460-\u24ff\ufb00-\uffef\u0966-\u096f\p{scx=Arab}\p{sc=Hebr}]/u;
const words = /[\p{L}\p{M}\p{N}]+(?:["״'׳]\p{sc=Hebr}[\p{L}\p{M}]*)*/gu;

/** What `toMatchExpression` looks for in a text. */
export function toIndexedText(text: string): IndexedText {
  const common = toCommonText(text);
  const signed = listSignedWords(common).map(({ term }) => term);
  const stems = listKoreanStems(common).map(({ term }) => term);
  const counted = listCountedTerms(common);
  const terms = new Set([
    ...listNumberTerms(common),
    ...listCodes(common),
    ...signed,
    ...listAbbreviationTerms(common),
    ...counted,
    ...stems,
  ]);
  if (unusual.test(text))
    for (const [word] of text.matchAll(words)) if (unusual.test(word)) for (const form of listWordForms(word)) terms.add(form);
  return { search_text: separateUnspacedLetters(common), search_terms: terms.size === 0 ? null : [...terms].join(' ') };
}
