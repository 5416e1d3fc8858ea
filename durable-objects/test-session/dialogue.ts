import type { TestConfig } from '../../src/simtest/config/config.ts';
import type { Speaker, StopReason } from '../../src/simtest/contract.ts';
import { findStopReason } from '../../src/simtest/dialogue/stop-rules.ts';
import { nextMove, buildTurns, type Move, type Side, type Sides, type Turn } from '../../src/simtest/dialogue/turn-order.ts';
import type { TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';

export const speakers = ['actor', 'adversary'] as const;

export interface DialogueDependencies {
  config(): TestConfig;
  stored: Record<Speaker, { readonly side: Side }>;
  /** The conversation engine of a side; the same one while the object lives. */
  conversationOf(speaker: Speaker): Conversation;
  now(): number;
}

/** Two agents that talk in turn. Their stored conversations are the only state, so that a restart continues in the middle of a turn. */
export class Dialogue {
  readonly #deps: DialogueDependencies;

  constructor(deps: DialogueDependencies) {
    this.#deps = deps;
  }

  get sides(): Sides {
    const { actor, adversary } = this.#deps.stored;
    return { actor: actor.side, adversary: adversary.side };
  }

  get turns(): Turn[] {
    return buildTurns(this.#deps.config().first_speaker, this.sides);
  }

  stopReason(startedAt: number): StopReason | null {
    return findStopReason(this.#deps.config(), this.turns, this.sides, this.#deps.now() - startedAt);
  }

  /** Lets the next speaker take its turn. Returns when the turn is done, or when `stopped` resolves. */
  async takeTurn(stopped: Promise<unknown>): Promise<void> {
    const { turns, sides } = this;
    const move = nextMove(this.#deps.config().first_speaker, turns, sides);
    const turn = this.#speak(move);
    // An interrupted turn goes on for a moment, and its failure does not matter.
    turn.catch(() => {});
    await Promise.race([turn, stopped]);
  }

  async #speak(move: Move): Promise<TurnOutcome> {
    const conversation = this.#deps.conversationOf(move.speaker);
    if (move.kind === 'resume') return conversation.resume();
    if (move.kind === 'open') return conversation.start();
    if (conversation.state === null) await conversation.start({ speaksFirst: false });
    const outcome = await conversation.userTurn(move.text);
    // A side that neither speaks nor ends would be asked forever.
    if (outcome.status === 'ignored') throw new Error(`the ${move.speaker} does not answer ${JSON.stringify(move.text)}`);
    return outcome;
  }

  /** Ends both conversations. A turn in progress is interrupted. */
  end(): void {
    for (const speaker of speakers) if (this.#deps.stored[speaker].side.state) this.#deps.conversationOf(speaker).end('stopped');
  }
}
