import type { StoredMessage } from './contract.ts';
import type { NewMessage } from './record.ts';

interface CutHistory {
  messages: NewMessage[];
  replaced: StoredMessage[];
  removed: number[];
}

/**
 * Cuts the agent's newest utterances to `spokenText`, the words that the carrier had spoken when the person interrupted. `underWay` is the last
 * utterance, which is not stored yet; it may be empty. An utterance with no spoken word is deleted, unless tools were called with it.
 */
export function cutHistoryAtInterrupt(messages: readonly StoredMessage[], underWay: string, spokenText: string): CutHistory {
  const spoken = findNewestSpoken(messages, underWay !== '');
  const texts = [...spoken.map(({ text }) => text), ...(underWay === '' ? [] : [underWay])];
  const left = cutUtterances(texts, spokenText);
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

/** The agent's utterances since the person last spoke. When there are none yet, the utterances before that. */
function findNewestSpoken(messages: readonly StoredMessage[], isSpeaking: boolean): StoredMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const since = messages.slice(lastUser + 1).filter(isSpoken);
  if (since.length > 0 || isSpeaking || lastUser < 0) return since;
  const before = messages.slice(0, lastUser).findLastIndex(({ role }) => role === 'user');
  return messages.slice(before + 1, lastUser).filter(isSpoken);
}

/**
 * Cuts utterances to `spokenText`: whole ones before the interrupt, the interrupted one up to it, empty texts after it. A carrier reports the words
 * of the interrupted utterance, or of several in a row; spaces and case may differ. Words that are not found, because numbers are spoken otherwise
 * than written, are counted instead. Without any spoken word the last utterance becomes empty.
 */
export function cutUtterances(utterances: readonly string[], spokenText: string): string[] {
  const last = utterances.length - 1;
  if (spokenText.trim() === '') return utterances.map((text, index) => (index === last ? '' : text));
  for (const index of utterances.keys()) {
    const cut = cutInRow(utterances.slice(index), spokenText);
    if (cut) return [...utterances.slice(0, index), ...cut];
  }
  return cutByCount(utterances, spokenText.trim().split(/\s+/).length);
}

/** Cuts utterances when `spokenText` begins with the first of them; a longer text continues into the next. Null: it begins otherwise. */
function cutInRow(utterances: readonly string[], spokenText: string): string[] | null {
  let rest = spokenText;
  for (const [index, text] of utterances.entries()) {
    const end = endOfMatch(text, rest);
    if (end !== null) return utterances.map((one, at) => (at < index ? one : at === index ? one.slice(0, end) : ''));
    const passed = endOfMatch(rest, text);
    if (passed === null) return null;
    rest = rest.slice(passed);
  }
  return rest.trim() === '' ? [...utterances] : null;
}

/** The index in `text` at which `beginning` ends, ignoring spaces and case; null when `text` does not begin with it. */
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
