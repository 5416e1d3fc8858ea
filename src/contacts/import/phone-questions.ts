import { isMarkup, toHeaderKey } from './header-key.ts';
import { ambiguousPhoneHeaders, phoneHeaders } from './phone-headers.ts';

const maxQuestionLength = 300;
const maxWordsOfPhoneWord = 4;
const minWordsOfQuestion = 4;
const otherSubjects =
  /\b(?:fax|type|label|status|model|brand|country|extension|verified|confirmed|assistant\W*s?|emergency|do you|did you|may we|can we|could we|would you|should we|how many|how often|which phone|when|time to|why|whose|opt|consent|agree|carrier|provider)\b/i;

/** Whether a header is a sentence that asks for a phone number, as forms write it: "What is your phone number?", "Please enter your mobile". */
export function asksForPhone(header: string): boolean {
  if (header.length > maxQuestionLength || otherSubjects.test(header) || isMarkup(header)) return false;
  const words = header
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map(toHeaderKey)
    .filter((word) => word !== '');
  const isQuestion = /[?？؟;]\s*\*?\s*$/.test(header) || words.length >= minWordsOfQuestion;
  return isQuestion && (hasPhoneWord(words) || hasUnspacedPhoneWord(toHeaderKey(header)));
}

const isClear = (word: string): boolean => word.length > 2 && !ambiguousPhoneHeaders.includes(word);

function hasPhoneWord(words: string[]): boolean {
  return words.some((_, start) =>
    Array.from({ length: maxWordsOfPhoneWord }, (__, more) => words.slice(start, start + more + 1).join('')).some(
      (piece) => isClear(piece) && phoneHeaders.includes(piece),
    ),
  );
}

/** Phone words of scripts that put no spaces between words. */
const unspacedPhoneWords = phoneHeaders.filter((word) => isClearUnspaced(word));

function isClearUnspaced(word: string): boolean {
  return word.length >= 2 && !ambiguousPhoneHeaders.includes(word) && /[\p{Script=Han}\p{Script=Hangul}\p{Script=Thai}]/u.test(word);
}

const hasUnspacedPhoneWord = (key: string): boolean => unspacedPhoneWords.some((word) => key.includes(word));
