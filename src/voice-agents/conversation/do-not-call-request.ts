import type { DoNotCallRequest, StoredMessage } from './contract.ts';

const maxSentenceLength = 500;

/**
 * The request that a model quotes, with the person's own sentence around it. A model may make words up, so they count only where the person
 * said them; case, accents, punctuation and space may differ. Undefined: nothing is quoted.
 */
export function findDoNotCallRequest(quote: unknown, messages: readonly StoredMessage[]): DoNotCallRequest | undefined {
  if (typeof quote !== 'string' || quote.trim() === '') return undefined;
  const wanted = toComparable(quote);
  const said = messages.filter(({ role, text }) => role === 'user' && wanted !== '' && toComparable(text).includes(wanted));
  const latest = said.at(-1);
  return { quote: cut(quote.trim()), sentence: latest ? cutSentence(latest.text, wanted) : null };
}

/** The sentence with the words, or the whole text where they span several. */
function cutSentence(text: string, wanted: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  const sentences = line.split(/(?<=[.!?])\s+|(?<=[。！？])/);
  return cut(sentences.find((sentence) => toComparable(sentence).includes(wanted)) ?? line);
}

/** A database cannot store half of a character, which a cut may leave. */
const cut = (text: string): string => text.slice(0, maxSentenceLength).toWellFormed();

/** Letters and digits in words with a space around each, so that words are not found inside of others. */
function toComparable(text: string): string {
  const words =
    text
      .normalize('NFKD')
      .replace(/[\p{M}'’]/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length === 0 ? '' : ` ${words.map(separateIdeographs).join(' ')} `;
}

/** Scripts without spaces between words: each character stands alone. */
const separateIdeographs = (word: string): string =>
  word
    .replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu, ' $& ')
    .trim()
    .replace(/ +/g, ' ');
