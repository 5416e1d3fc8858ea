import type { StoredMessage } from './contract.ts';
import { cutToHeard } from './cut-to-heard.ts';
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
