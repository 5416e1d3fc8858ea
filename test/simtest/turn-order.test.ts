import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Dialogue, speakers } from '../../durable-objects/test-session/dialogue.ts';
import type { ConversationRequest } from '../../src/providers/language-model/contract.ts';
import { TestConfig } from '../../src/simtest/config/config.ts';
import type { SessionFacts, Speaker, StopReason } from '../../src/simtest/contract.ts';
import { createSideConversation } from '../../src/simtest/dialogue/side-conversation.ts';
import { speakerOfTurn, type Turn } from '../../src/simtest/dialogue/turn-order.ts';
import type { ConversationChange, ConversationStore } from '../../src/voice-agents/conversation/contract.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import { FakeModel, type Answer } from '../voice-agents/fake-model.ts';

const agent = (speaker: Speaker, greets: boolean) => ({
  nodes: [
    { id: 'start', type: 'startCall', data: { prompt: `You are the ${speaker}.`, greeting: greets ? `${speaker} greets` : null } },
    { id: 'next', type: 'agentNode', data: { prompt: `You are the ${speaker}.` } },
    { id: 'bye', type: 'endCall', data: { prompt: `You are the ${speaker}.` } },
  ],
  edges: [
    { id: 'on', source: 'start', target: 'next', data: { label: 'on', condition: 'c', transition_speech: `${speaker} goes on.` } },
    { id: 'off', source: 'next', target: 'bye', data: { label: 'off', condition: 'c' } },
  ],
});

class Died extends Error {}

/** How often it commits until the object that it belongs to dies. */
interface Life {
  left: number;
}

/** A store that is gone, with its object, at a commit: before it is written or right after. */
class DyingStore implements ConversationStore {
  readonly #kept: MemoryConversationStore;
  readonly #life: Life;
  readonly #isWritten: boolean;

  constructor(kept: MemoryConversationStore, life: Life, isWritten: boolean) {
    this.#kept = kept;
    this.#life = life;
    this.#isWritten = isWritten;
  }

  #check(): void {
    if (this.#life.left <= 0) throw new Died();
  }

  get side() {
    return { state: this.state(), messages: this.messages(), events: this.#kept.events };
  }

  state() {
    this.#check();
    return this.#kept.state();
  }

  messages() {
    this.#check();
    return this.#kept.messages();
  }

  commit(change: ConversationChange): void {
    this.#check();
    this.#life.left--;
    if (!this.#isWritten) this.#check();
    this.#kept.commit(change);
    this.#check();
  }
}

type Deed = 'speak' | 'nothing' | 'on' | 'off' | 'unknown' | 'hang_up' | 'fail';

/** The model's deed depends on the length of the talk, so that a repeated request gets the same answer. */
const modelDoing = (deeds: Record<Speaker, Deed[]>) =>
  new FakeModel((request: ConversationRequest): Answer => {
    const speaker = request.system!.includes('the actor') ? 'actor' : 'adversary';
    const userTurns = request.messages.filter(({ role }) => role === 'user').length;
    const deed = deeds[speaker][userTurns % deeds[speaker].length]!;
    const text = `${speaker} answers ${userTurns}`;
    const hasCalled = request.messages.at(-1)?.role === 'tool';
    const has = (name: string) => request.tools!.some((tool) => tool.name === name);
    if (deed === 'nothing') return { text: ' ' };
    if (deed === 'fail') return { failure: 'invalid_request', retryable: false };
    if (deed === 'hang_up') return has('end_call') ? { text, calls: [['end_call']] } : text;
    if (deed === 'unknown' && !hasCalled) return { calls: [['nowhere']] };
    if ((deed === 'on' || deed === 'off') && !hasCalled && has(deed)) return { calls: [[deed]] };
    return text;
  });

interface Played {
  turns: Turn[];
  reason: StopReason;
  asked: number;
  deaths: number;
}

/** Plays a session to its end; the object dies at the given commits, each counted from its birth. */
async function play(
  config: object,
  deeds: Record<Speaker, Deed[]>,
  greets: boolean,
  deaths: [commits: number, isWritten: boolean][],
): Promise<Played> {
  const model = modelDoing(deeds);
  const kept = { actor: new MemoryConversationStore(), adversary: new MemoryConversationStore() };
  const side = (speaker: Speaker) => ({ definition: agent(speaker, greets), configurations: {}, dispositionCodes: {}, initialContext: {} });
  const facts = {
    sessionId: 1,
    organizationId: 1,
    organization: { timezone: 'UTC', default_country: 'US' },
    config: TestConfig.parse(config),
    actor: side('actor'),
    adversary: side('adversary'),
  } as unknown as SessionFacts;
  const left = [...deaths];
  const now = () => 1000;
  let died = 0;
  for (;;) {
    const [commits, isWritten] = left.shift() ?? [Infinity, true];
    const life = { left: commits };
    const stored = { actor: new DyingStore(kept.actor, life, isWritten), adversary: new DyingStore(kept.adversary, life, isWritten) };
    const conversations = new Map<Speaker, Conversation>();
    const conversationOf = (speaker: Speaker) => {
      const known =
        conversations.get(speaker) ?? createSideConversation(facts, speaker, { store: stored[speaker], model, retrieve: undefined, now });
      conversations.set(speaker, known);
      return known;
    };
    const dialogue = new Dialogue({ config: () => facts.config, stored, conversationOf, now });
    try {
      for (;;) {
        const reason = dialogue.stopReason(1000);
        if (reason) return { turns: dialogue.turns, reason, asked: model.asked.length, deaths: died };
        await dialogue.takeTurn(new Promise(() => {}));
      }
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      died++;
    }
  }
}

const deed = fc.constantFrom<Deed>('speak', 'speak', 'speak', 'nothing', 'on', 'off', 'unknown', 'hang_up', 'fail');
const deeds = fc.record({
  actor: fc.array(deed, { minLength: 1, maxLength: 6 }),
  adversary: fc.array(deed, { minLength: 1, maxLength: 6 }),
});
const config = fc.record({ max_turns: fc.integer({ min: 1, max: 12 }), first_speaker: fc.constantFrom(...speakers) });
const deaths = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.boolean()), { maxLength: 6 });

describe('whatever two agents do', () => {
  test('they speak in turn, one after the other, to an end that has its reason', async () => {
    await fc.assert(
      fc.asyncProperty(config, deeds, fc.boolean(), async (limits, does, greets) => {
        const { turns, reason } = await play(limits, does, greets, []);
        expect(turns.map(({ number, speaker }) => [number, speaker])).toEqual(
          turns.map((_turn, index) => [index + 1, speakerOfTurn(index + 1, limits.first_speaker)]),
        );
        expect(turns.length).toBeGreaterThan(0);
        expect(turns.length).toBeLessThanOrEqual(limits.max_turns);
        expect(turns.every(({ text }) => text.trim() !== '')).toBe(true);
        if (reason === 'max_turns') expect(turns.length).toBe(limits.max_turns);
        else if (reason === 'silence') expect([turns.at(-1), turns.at(-3)]).toMatchObject([{ wasSilent: true }, { wasSilent: true }]);
        else if (reason !== 'error') expect(`${turns.at(-1)!.speaker}_ended`).toBe(reason);
      }),
      { numRuns: 150 },
    );
  });

  test('a restart at any moment changes nothing that is said, and at most the turn under way is asked for again', async () => {
    await fc.assert(
      fc.asyncProperty(config, deeds, fc.boolean(), deaths, async (limits, does, greets, crashes) => {
        const whole = await play(limits, does, greets, []);
        const broken = await play(limits, does, greets, crashes);
        expect(broken.turns.map(({ speaker, text }) => `${speaker}: ${text}`)).toEqual(
          whole.turns.map(({ speaker, text }) => `${speaker}: ${text}`),
        );
        expect(broken.reason).toBe(whole.reason);
        // A turn asks for three answers at the most here.
        expect(broken.asked).toBeLessThanOrEqual(whole.asked + 3 * broken.deaths);
      }),
      { numRuns: 200 },
    );
  });
});
