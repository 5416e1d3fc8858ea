import { toTopic } from './words.ts';

export const splitSentences = (text: string): string[] =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim().replace(/^(?:[-*#>]+|\d+[.)])\s*/, ''))
    .filter((sentence) => /\p{L}/u.test(sentence));

/** The sentence of `text` that shares most words with `about`, the first one when none does; undefined without any. */
export function closestSentence(text: string, about: string): string | undefined {
  const wanted = toTopic(about);
  const scored = splitSentences(text).map((sentence) => ({
    sentence,
    score: [...toTopic(sentence)].filter((word) => wanted.has(word)).length,
  }));
  return scored.toSorted((one, other) => other.score - one.score)[0]?.sentence;
}
