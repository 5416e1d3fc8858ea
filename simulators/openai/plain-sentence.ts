import { topicOf } from './words.ts';

const longestSentence = 300;

export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim().replace(/^(?:[-*#>]+|\d+[.)])\s*/, ''))
    .filter((sentence) => /\p{L}/u.test(sentence));

/** The sentence of `text` that shares most words with `about`, the first one when none does; undefined without any. */
export function closestSentence(text: string, about: string): string | undefined {
  const wanted = topicOf(about);
  const scored = sentencesOf(text).map((sentence) => ({
    sentence,
    score: [...topicOf(sentence)].filter((word) => wanted.has(word)).length,
  }));
  return scored.toSorted((one, other) => other.score - one.score)[0]?.sentence;
}

/** What the model says: one sentence of its instructions, turned into speech, or of what a tool found. */
export function plainSentence(instructions: string, said: string, found: string): string {
  const source = found === '' ? instructions : found;
  const sentence = closestSentence(source, said);
  if (sentence !== undefined) return shorten(found === '' ? spoken(sentence) : sentence);
  return said.trim() === '' ? 'Hello, how can I help you?' : shorten(`You said: ${said.trim().replace(/\s+/g, ' ')}`);
}

/** Instructions are for the model; what it says is for the other side. */
function spoken(sentence: string): string {
  const told = sentence
    .replace(/^you are\b/i, 'I am')
    .replace(/^your\b/i, 'My')
    .replace(/\byour\b/gi, 'my');
  const asked = /^(?:please )?ask (?:(?:the )?(?:user|caller|customer|person|contact)|them|him|her)?\s*(.+?)[.!?]*$/i.exec(sentence)?.[1];
  if (asked === undefined) return told;
  return `May I ask you ${asked.replace(/\b(?:they|he|she)\b/gi, 'you').replace(/\b(?:their|his|her)\b/gi, 'your')}?`;
}

const shorten = (text: string): string => (text.length > longestSentence ? `${text.slice(0, longestSentence).trimEnd()}...` : text);
