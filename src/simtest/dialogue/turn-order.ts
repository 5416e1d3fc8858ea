import type { ConversationEvent, ConversationState, StoredMessage } from '../../voice-agents/conversation/contract.ts';
import type { Speaker, TestTurn } from '../contract.ts';

/** The stored conversation of one side. `state` is null before its start. */
export interface Side {
  state: ConversationState | null;
  messages: readonly StoredMessage[];
  events: readonly ConversationEvent[];
}

export type Sides = Record<Speaker, Side>;

export interface Turn extends TestTurn {
  /** The language model had nothing to say. */
  wasSilent: boolean;
}

/** What the next speaker does: open the conversation, answer the other side, or resume a turn that a restart interrupted. */
export type Move = { speaker: Speaker } & ({ kind: 'open' } | { kind: 'answer'; text: string } | { kind: 'resume' });

const otherSpeaker = (speaker: Speaker): Speaker => (speaker === 'actor' ? 'adversary' : 'actor');

/** The speaker of a turn. Turns count from 1. */
export const speakerOfTurn = (number: number, first: Speaker): Speaker => (number % 2 === 1 ? first : otherSpeaker(first));

/**
 * The finished turns of a conversation: everything that a side says before the other one speaks is one turn. Turns are derived from the stored
 * conversations of the two sides, so that there is no second record. A turn in progress is left out.
 */
export function buildTurns(first: Speaker, sides: Sides): Turn[] {
  const answers = { actor: groupAnswers(sides.actor), adversary: groupAnswers(sides.adversary) };
  const turns: Turn[] = [];
  for (;;) {
    const number = turns.length + 1;
    const speaker = speakerOfTurn(number, first);
    // The side that does not open the conversation says nothing before the first utterance of the other one.
    const answer = answers[speaker][Math.floor(number / 2)];
    const text = answer?.said.map((message) => message.text).join(' ') ?? '';
    if (!answer || answer.isUnderWay || text === '') return turns;
    const { at } = answer.said.at(-1)!;
    const latencyMs = Math.max(0, at - resumedAt(sides[speaker], answer.askedAt, at));
    turns.push({ number, speaker, text, at, latencyMs, wasSilent: answer.said.some(({ fillsSilence }) => fillsSilence) });
  }
}

/** The next move of the conversation. */
export function nextMove(first: Speaker, turns: readonly Turn[], sides: Sides): Move {
  const speaker = speakerOfTurn(turns.length + 1, first);
  const last = turns.at(-1);
  if (sides[speaker].state?.owesAnswer) return { speaker, kind: 'resume' };
  return last ? { speaker, kind: 'answer', text: last.text } : { speaker, kind: 'open' };
}

interface Answer {
  /** Epoch ms. */
  askedAt: number;
  said: StoredMessage[];
  isUnderWay: boolean;
}

/** The answers of a side: the first one opens the conversation, each further one answers an utterance of the other side. */
function groupAnswers({ state, messages }: Side): Answer[] {
  if (!state) return [];
  const answers: Answer[] = [{ askedAt: state.startedAt, said: [], isUnderWay: false }];
  for (const message of messages) {
    if (message.role === 'user') answers.push({ askedAt: message.at, said: [], isUnderWay: false });
    else if (message.role === 'assistant' && message.text !== '') answers.at(-1)!.said.push(message);
  }
  answers.at(-1)!.isUnderWay = state.owesAnswer;
  return answers;
}

/** From when the service worked on an answer without a break: downtime does not count as the agent's latency. */
function resumedAt({ events }: Side, askedAt: number, saidAt: number): number {
  const resumed = events.filter(({ type }) => type === 'resumed').map(({ at }) => Date.parse(at));
  return Math.max(askedAt, ...resumed.filter((at) => at <= saidAt));
}
