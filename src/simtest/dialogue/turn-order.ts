import type { ConversationEvent, ConversationState, StoredMessage } from '../../voice-agents/conversation/contract.ts';
import type { Speaker, TestTurn } from '../contract.ts';

/** What the engine of one side has kept. `state` is null before it began. */
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

/** What the side whose turn it is has to do: open the talk, answer what it is told, or finish what a restart broke off. */
export type Move = { speaker: Speaker } & ({ kind: 'open' } | { kind: 'answer'; text: string } | { kind: 'resume' });

export const otherSpeaker = (speaker: Speaker): Speaker => (speaker === 'actor' ? 'adversary' : 'actor');

/** Whose turn it is, counted from 1. */
export const speakerOfTurn = (number: number, first: Speaker): Speaker => (number % 2 === 1 ? first : otherSpeaker(first));

/**
 * What was said, turn by turn: all that a side says before the other one speaks is one turn. It is told from what the two engines keep,
 * so that there is no second truth; a turn under way is not in it.
 */
export function buildTurns(first: Speaker, sides: Sides): Turn[] {
  const answers = { actor: groupAnswers(sides.actor), adversary: groupAnswers(sides.adversary) };
  const turns: Turn[] = [];
  for (;;) {
    const number = turns.length + 1;
    const speaker = speakerOfTurn(number, first);
    // Who does not open the talk has said nothing before it was told something.
    const answer = answers[speaker][Math.floor(number / 2)];
    const text = answer?.said.map((message) => message.text).join(' ') ?? '';
    if (!answer || answer.isUnderWay || text === '') return turns;
    const { at } = answer.said.at(-1)!;
    const latencyMs = Math.max(0, at - resumedAt(sides[speaker], answer.askedAt, at));
    turns.push({ number, speaker, text, at, latencyMs, wasSilent: answer.said.some(({ fillsSilence }) => fillsSilence) });
  }
}

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

/** What a side said before it was told anything, and to each thing that it was told. */
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

/** From when on an answer was worked at without a break: the time in which the service was down is not the agent's. */
function resumedAt({ events }: Side, askedAt: number, saidAt: number): number {
  const resumed = events.filter(({ type }) => type === 'resumed').map(({ at }) => Date.parse(at));
  return Math.max(askedAt, ...resumed.filter((at) => at <= saidAt));
}
