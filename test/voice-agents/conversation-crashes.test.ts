import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConversationRequest } from '../../src/providers/language-model/contract.ts';
import type { ConversationChange, ConversationStore } from '../../src/voice-agents/conversation/contract.ts';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import { answer, begin, historyFault } from './begin.ts';
import { FakeModel, type Answer } from './fake-model.ts';

const tool = (name: string, method: string) => ({ name, description: name, http: { method, url: `https://example.com/${name}` } });
const agent = {
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      data: {
        prompt: 'Talk.',
        greeting: 'Hello',
        tools: [tool('book', 'POST'), tool('find', 'GET')],
        extraction_enabled: true,
        extraction_variables: [{ name: 'day' }],
      },
    },
    { id: 'next', type: 'agentNode', data: { prompt: 'The day is {{ day }}.' } },
    { id: 'bye', type: 'endCall', data: { prompt: 'Say goodbye.' } },
  ],
  edges: [
    { id: 'on', source: 'start', target: 'next', data: { label: 'on', condition: 'on', transition_speech: 'Let us go on.' } },
    { id: 'over', source: 'next', target: 'bye', data: { label: 'over', condition: 'over' } },
  ],
};
const lines = ['Find and book', 'Go on', 'What day?', 'Bye'];

/** The same question gets the same answer, whichever object asks it. */
function script({ messages }: ConversationRequest): Answer {
  const last = messages.at(-1)!;
  if (last.role === 'user' && last.content === lines[0]) return { text: 'One moment.', calls: [['find'], ['book']] };
  if (last.role === 'user' && last.content === lines[1]) return { calls: [['on']] };
  if (last.role === 'user' && last.content === lines[3]) return { calls: [['over']] };
  return 'Well said.';
}

class Died extends Error {}

/** A store that is gone, with the object that uses it, at its n-th commit: before it is written or right after. */
class DyingStore implements ConversationStore {
  isDead = false;
  #left: number;
  readonly #kept: MemoryConversationStore;
  readonly #moment: 'before' | 'after';

  constructor(kept: MemoryConversationStore, commits: number, moment: 'before' | 'after') {
    this.#kept = kept;
    this.#left = commits;
    this.#moment = moment;
  }

  #check(): void {
    if (this.isDead) throw new Died();
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
    this.isDead = --this.#left <= 0;
    if (this.#moment === 'before') this.#check();
    this.#kept.commit(change);
    this.#check();
  }
}

/** Talks through all lines. The object dies at the given commits, each counted from its birth; lines that it has not stored are sent again. */
async function live(deaths: [commits: number, moment: 'before' | 'after'][]) {
  const kept = new MemoryConversationStore();
  const model = new FakeModel(script);
  model.completeWith = () => ({ day: 'Tuesday' });
  const sent: string[] = [];
  const left = [...deaths];
  let deathCount = 0;
  const born = () => {
    const [commits, moment] = left.shift() ?? [Infinity, 'after'];
    const store = new DyingStore(kept, commits, moment);
    const sendHttp = async ({ url }: { url: string }) => {
      sent.push(url);
      return answer('ok');
    };
    return begin(model, { definition: agent, store, world: { sendHttp, sleep: () => new Promise((resolve) => setTimeout(resolve, 1)) } })
      .conversation;
  };
  let conversation = born();
  const act = async (begun: () => boolean, work: () => Promise<unknown>) => {
    for (let lives = 0; lives < 20; lives++) {
      try {
        await (begun() ? conversation.resume() : work());
        return;
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        deathCount++;
        conversation = born();
      }
    }
    throw new Error('it dies for ever');
  };
  const countUserLines = () => kept.messages().filter(({ role }) => role === 'user').length;
  await act(
    () => kept.state() !== null,
    () => conversation.start(),
  );
  for (const [index, line] of lines.entries())
    await act(
      () => countUserLines() > index,
      () => conversation.userTurn(line),
    );
  return { kept, model, sent, conversation, deathCount };
}

function checkLife({ kept, model, sent }: Awaited<ReturnType<typeof live>>): void {
  const messages = kept.messages();
  expect(kept.state()).toMatchObject({ end: { reason: 'end_node' }, owesAnswer: false, nodesVisited: ['start', 'next', 'bye'] });
  expect(messages.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(lines);
  for (const request of model.asked) expect(historyFault(request.messages)).toBeNull();
  for (const [index, message] of messages.entries())
    if (message.role === 'user') {
      const answers = messages.slice(index + 1);
      const until = answers.findIndex(({ role }) => role === 'user');
      const spoken = answers.slice(0, until < 0 ? undefined : until).filter(({ role, text }) => role === 'assistant' && text !== '');
      expect(spoken.length, message.text).toBeGreaterThan(0);
    }
  // Looking twice does no harm; what changes something is never done twice.
  expect(sent.filter((url) => url.endsWith('/book')).length).toBeLessThanOrEqual(1);
}

describe('an object that dies in the middle of a talk', () => {
  test('and never dies says and does everything once', async () => {
    const life = await live([]);
    checkLife(life);
    expect(life.sent.length).toBe(2);
    expect(
      life.kept
        .messages()
        .filter(({ role }) => role !== 'tool')
        .map(({ role, text }) => `${role}: ${text}`),
    ).toEqual([
      'assistant: Hello',
      'user: Find and book',
      'assistant: One moment.',
      'assistant: Well said.',
      'user: Go on',
      'assistant: ',
      'assistant: Let us go on.',
      'assistant: Well said.',
      'user: What day?',
      'assistant: Well said.',
      'user: Bye',
      'assistant: ',
      'assistant: Well said.',
    ]);
  });

  test.each(['before', 'after'] as const)('%s any of its commits goes on where it was', async (moment) => {
    for (let commits = 1; ; commits++) {
      const life = await live([[commits, moment]]);
      checkLife(life);
      if (life.deathCount > 0) continue;
      // The talk has no more commits than that.
      expect(commits).toBeGreaterThan(12);
      break;
    }
  });

  test('again and again gets there, too', async () => {
    const death = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.constantFrom('before' as const, 'after' as const));
    await fc.assert(
      fc.asyncProperty(fc.array(death, { maxLength: 8 }), async (deaths) => checkLife(await live(deaths))),
      { numRuns: 100 },
    );
  });
});

test('a goodbye that was said together with its end_call is not said again', async () => {
  for (const moment of ['before', 'after'] as const)
    for (let commits = 1; commits <= 6; commits++) {
      const kept = new MemoryConversationStore();
      const model = new FakeModel({ text: 'Bye.', calls: [['end_call']] });
      await begin(model, { definition: agent, store: kept }).conversation.start();
      const dying = begin(model, { definition: agent, store: new DyingStore(kept, commits, moment) }).conversation;
      const isDead = await dying.userTurn('I must go').then(
        () => false,
        () => true,
      );
      if (!isDead) expect(commits).toBeGreaterThan(3);
      const { conversation } = begin(model, { definition: agent, store: kept });
      if (kept.messages().at(-1)!.role === 'assistant' && kept.messages().length === 1) await conversation.userTurn('I must go');
      else await conversation.resume();
      expect(kept.state()).toMatchObject({ end: { reason: 'end_call' }, owesAnswer: false });
      expect(kept.messages().flatMap(({ role, text }) => (role === 'assistant' ? [text] : []))).toEqual(['Hello', 'Bye.']);
    }
});

test('a turn that was answered is not answered again', async () => {
  const { conversation, model } = await live([]);
  const asked = model.asked.length;
  expect(await conversation.resume()).toMatchObject({ status: 'ignored' });
  expect(model.asked.length).toBe(asked);
});

test('a call whose outcome was lost is reported as unknown; a lookup is repeated', async () => {
  for (let commits = 1; commits < 20; commits++) {
    const { kept, sent } = await live([[commits, 'before']]);
    const books = sent.filter((url) => url.endsWith('/book')).length;
    const toolTexts = kept
      .messages()
      .filter(({ role }) => role === 'tool')
      .map(({ text }) => text);
    const isLost = toolTexts.some((text) => text.includes('nobody can say whether it took effect'));
    if (isLost) expect(books).toBeLessThanOrEqual(1);
    else expect(books).toBe(1);
  }
});

test('only the line was lost: what is under way is waited for, not done again', async () => {
  const model = new FakeModel(script);
  let respond: () => void = () => {};
  const sent: string[] = [];
  const { conversation, store } = begin(model, {
    definition: agent,
    world: {
      sendHttp: async ({ url }) => {
        sent.push(url);
        if (url.endsWith('/book')) await new Promise<void>((resolve) => (respond = resolve));
        return answer('ok');
      },
    },
  });
  await conversation.start();
  const first = conversation.userTurn(lines[0]!);
  await new Promise((resolve) => setTimeout(resolve, 1));
  const second = conversation.resume();
  await new Promise((resolve) => setTimeout(resolve, 1));
  respond();
  expect(await first).toMatchObject({ status: 'superseded' });
  expect(await second).toMatchObject({ status: 'answered', said: ['Well said.'] });
  expect(sent.length).toBe(2);
  const ok = JSON.stringify({ status: 200, body: 'ok' });
  expect(store.messages().flatMap(({ role, text }) => (role === 'tool' ? [text] : []))).toEqual([ok, ok]);
});

test('two resumes at once answer once', async () => {
  const kept = new MemoryConversationStore();
  const model = new FakeModel(script);
  const dying = new DyingStore(kept, 3, 'after');
  const { conversation } = begin(model, { definition: agent, store: dying });
  await conversation.start();
  await expect(conversation.userTurn('What day?')).rejects.toThrow(Died);
  const revived = begin(model, { definition: agent, store: kept }).conversation;
  const outcomes = await Promise.all([revived.resume(), revived.resume()]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['answered', 'superseded']);
  expect(kept.messages().filter(({ text }) => text === 'Well said.')).toHaveLength(1);
  expect(await revived.resume()).toMatchObject({ status: 'ignored' });
});
