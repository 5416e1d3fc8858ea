import type { StoredMessage } from './contract.ts';
import type { NewMessage } from './record.ts';

interface CutHistory {
  messages: NewMessage[];
  replaced: StoredMessage[];
  removed: number[];
}

/**
 * Cuts the newest utterances of the agent, of which `underWay` is the last and not written yet, to what was heard. An utterance that nobody
 * heard leaves the history, unless tools were called with it.
 */
export function cutHistoryToHeard(messages: readonly StoredMessage[], underWay: string, heard: string): CutHistory {
  const spoken = findNewestSpoken(messages, underWay !== '');
  const texts = [...spoken.map(({ text }) => text), ...(underWay === '' ? [] : [underWay])];
  const left = cutToHeard(texts, heard);
  const changed = spoken.map((message, index) => ({ message, text: left[index]! })).filter(({ message, text }) => text !== message.text);
  const isGone = ({ message, text }: (typeof changed)[number]): boolean => text === '' && message.toolCalls === undefined;
  const said = underWay === '' ? '' : left.at(-1)!;
  return {
    messages: said === '' ? [] : [{ role: 'assistant', text: said, isCut: true }],
    replaced: changed.filter((one) => !isGone(one)).map(({ message, text }) => Object.assign({}, message, { text, isCut: true })),
    removed: changed.filter(isGone).map(({ message }) => message.id),
  };
}

const isSpoken = ({ role, text }: StoredMessage): boolean => role === 'assistant' && text !== '';

/** What the agent said since the other side spoke; when that is nothing yet, what it said before. */
function findNewestSpoken(messages: readonly StoredMessage[], isSpeaking: boolean): StoredMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const since = messages.slice(lastUser + 1).filter(isSpoken);
  if (since.length > 0 || isSpeaking || lastUser < 0) return since;
  const before = messages.slice(0, lastUser).findLastIndex(({ role }) => role === 'user');
  return messages.slice(before + 1, lastUser).filter(isSpoken);
}

/**
 * What remains of utterances when only `heard` of them was heard: those before the one in which the hearing ended, and that one up to there.
 * The carrier tells the words of the utterance that was interrupted, or of several in a row; spaces and case may differ. Words that cannot
 * be found (numbers are spoken otherwise than written) are counted instead. Of an utterance that was not heard an empty text remains.
 */
export function cutToHeard(utterances: readonly string[], heard: string): string[] {
  const last = utterances.length - 1;
  if (heard.trim() === '') return utterances.map((text, index) => (index === last ? '' : text));
  for (const index of utterances.keys()) {
    const cut = cutInRow(utterances.slice(index), heard);
    if (cut) return [...utterances.slice(0, index), ...cut];
  }
  return cutByCount(utterances, heard.trim().split(/\s+/).length);
}

/** When `heard` begins with the first utterance, and goes on into those behind it if it is longer. */
function cutInRow(utterances: readonly string[], heard: string): string[] | null {
  let rest = heard;
  for (const [index, text] of utterances.entries()) {
    const end = endOfMatch(text, rest);
    if (end !== null) return utterances.map((one, at) => (at < index ? one : at === index ? one.slice(0, end) : ''));
    const passed = endOfMatch(rest, text);
    if (passed === null) return null;
    rest = rest.slice(passed);
  }
  return rest.trim() === '' ? [...utterances] : null;
}

/** Where `beginning` ends in `text`, when `text` begins with it; spaces and case count for nothing. */
function endOfMatch(text: string, beginning: string): number | null {
  let at = 0;
  for (const character of beginning) {
    if (isSpace(character)) continue;
    while (at < text.length && isSpace(text[at]!)) at++;
    if (text.slice(at, at + character.length).toLowerCase() !== character.toLowerCase()) return null;
    at += character.length;
  }
  return at;
}

const isSpace = (character: string): boolean => /^\s$/.test(character);

function cutByCount(utterances: readonly string[], words: number): string[] {
  let left = words;
  return utterances.map((text) => {
    const found = [...text.matchAll(/\S+/g)];
    const end = found[Math.min(left, found.length) - 1];
    left = Math.max(0, left - found.length);
    return end ? text.slice(0, end.index + end[0].length) : '';
  });
}
