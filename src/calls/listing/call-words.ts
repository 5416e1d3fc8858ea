import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import { toLetterPairs, unspacedLetter } from '../../knowledge-base/keywords/unspaced-scripts.ts';
import { lazily } from '../../library/lazily.ts';
import { limitCombiningMarks } from '../../library/text/clean-text.ts';
import type { Utterance } from '../../voice-agents/conversation/transcript.ts';

// `call_search` has the words of each call with a transcript (migration `call_lists`): those of its transcript and of its summary, each once.
// Which words they are is decided here, for calls and for queries alike. They cannot be read back: the transcript in R2 has them.

/** An hour of talk has about 60,000 characters. Words beyond are not found. */
const maxCharacters = 200_000;
const maxQueryWords = 20;

const accents = /[\u0300-\u036f]/g;
const wordPattern = /[\p{L}\p{M}\p{N}]+/gu;
const unspacedRuns = lazily(() => new RegExp(String.raw`((?:${unspacedLetter}\p{M}*)+)`, 'v'));

/** Where the private-use letters for vowel signs and the like begin: the index would take such a sign for the end of a word. */
const firstSignLetter = 0xe000;
const signLetters = 0x1900;

/** A word as the index has it. */
interface CallWord {
  text: string;
  /** Of a script without blanks between words, only the first of two letters. */
  isBeginning?: true;
}

/** The words by which a call is found, separated by blanks; empty: there are none. */
export function toCallWords(utterances: readonly Utterance[], summary: string | null): string {
  const text = [...utterances.map((utterance) => utterance.text), summary ?? ''].join('\n').slice(0, maxCharacters);
  return [...new Set(listWords(text).map((word) => word.text))].join(' ');
}

/** The FTS5 expression for the organization's calls with all words of `text`, in any order; null when it has no word. */
export function toCallMatch(organizationId: number, text: string): string | null {
  const terms = new Set(queryWords(text).map((word) => `"${word.text}"${word.isBeginning ? '*' : ''}`));
  if (terms.size === 0) return null;
  return `scope : "${toScope(organizationId)}" AND text : (${[...terms].slice(0, maxQueryWords).join(' AND ')})`;
}

/** The word that all calls of an organization have. */
export const toScope = (organizationId: number): string => `organization${organizationId}`;

const splitText = (text: string): string[] =>
  limitCombiningMarks(text).normalize('NFKD').replaceAll(accents, '').normalize('NFKC').toLowerCase().match(wordPattern) ?? [];

/** All words of a call. A run of letters without blanks has a word for each two neighbours, and its last letter. */
const listWords = (text: string): CallWord[] => splitWords(text, (pairs) => [...pairs.map(toWord), toWord(lastLetter(pairs))]);

/** The words of a query. A single letter is the beginning of two. */
const queryWords = (text: string): CallWord[] =>
  splitWords(text, (pairs) =>
    pairs.length === 1 && !pairs[0]!.includes(' ') ? [{ text: pairs[0]!, isBeginning: true }] : pairs.map(toWord),
  );

const splitWords = (text: string, ofPairs: (pairs: string[]) => CallWord[]): CallWord[] =>
  splitText(text).flatMap((word) =>
    word
      .split(unspacedRuns())
      .flatMap((part, index) => (part === '' ? [] : index % 2 === 1 ? ofPairs(toLetterPairs(part)) : [{ text: withSignsAsLetters(part) }])),
  );

const toWord = (pair: string): CallWord => ({ text: pair.replace(' ', '') });
const lastLetter = (pairs: string[]): string => pairs.at(-1)!.split(' ').at(-1)!;

const withSignsAsLetters = (word: string): string =>
  word.replaceAll(/\p{M}/gu, (sign) => String.fromCodePoint(firstSignLetter + (sign.codePointAt(0)! % signLetters)));

/** Stores the words of a call that is not completed yet. It goes before the completion of the call in one batch, so that it is done once. */
export const insertCallWords = (
  { database, organization }: Pick<Context, 'database' | 'organization'>,
  runId: number,
  words: string,
): Statement =>
  database.prepare(
    `INSERT INTO call_search (rowid, scope, text)
     SELECT id, ?3, ?4 FROM voice_agent_run WHERE id = ?1 AND organization_id = ?2 AND is_completed = 0`,
    runId,
    organization.id,
    toScope(organization.id),
    words,
  );
