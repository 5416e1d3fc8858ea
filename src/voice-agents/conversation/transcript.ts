import { toTimestamp } from '../../library/time/clock.ts';
import type { StoredMessage } from './contract.ts';

export interface Utterance {
  speaker: 'agent' | 'person';
  text: string;
  /** ISO 8601 UTC. */
  at: string;
  node_id: string;
  /** The agent was interrupted at the end of this text. */
  is_cut: boolean;
}

/** The utterances of both sides, in order. */
export const toTranscript = (messages: readonly StoredMessage[]): Utterance[] =>
  messages
    .filter(({ role, text }) => role !== 'tool' && text !== '')
    .map(({ role, text, at, nodeId, isCut }) => ({
      speaker: role === 'user' ? 'person' : 'agent',
      text,
      at: toTimestamp(at),
      node_id: nodeId,
      is_cut: isCut === true,
    }));

/** One line an utterance, for people and models. */
export const formatTranscript = (utterances: readonly Utterance[]): string =>
  utterances
    .map(({ speaker, text, is_cut: isCut }) => `${speaker === 'agent' ? 'Agent' : 'Person'}: ${oneLine(text)}${isCut ? ' ...' : ''}`)
    .join('\n');

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
