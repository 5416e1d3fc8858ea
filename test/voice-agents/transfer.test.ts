import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LegFact, TransferLeg } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { afterLegFact, chooseTarget, toTransferRecord, wasBridged } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { validateAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import type { ConversationChange } from '../../src/voice-agents/conversation/contract.ts';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import { begin, historyFault, startedAt, type Options } from './begin.ts';
import { FakeModel, type Answer } from './fake-model.ts';

const desk = '+493012345678';
const cell = '+4915112345678';

const toolAgent = (transfer: object = {}) => ({
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      data: {
        prompt: 'Help.',
        greeting: 'Hi',
        tools: [{ name: 'human', description: 'Asks for a human', transfer: { to: desk, ...transfer } }],
      },
    },
  ],
  edges: [],
});

const nodeAgent = (data: object = {}, after: 'talk' | 'end' | null = null) => ({
  nodes: [
    { id: 'start', type: 'startCall', data: { prompt: 'Help.', greeting: 'Hi' } },
    { id: 'desk', type: 'transfer', data: { to: desk, ...data } },
    ...(after === 'talk' ? [{ id: 'after', type: 'agentNode', data: { prompt: 'Take a message.' } }] : []),
    ...(after === 'end' ? [{ id: 'after', type: 'endCall', data: { prompt: 'Say goodbye.' } }] : []),
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'desk', data: { label: 'human', condition: 'they want a human' } },
    ...(after === null
      ? []
      : [{ id: 'e2', source: 'desk', target: 'after', data: { label: 'nobody', condition: 'nobody takes the call' } }]),
  ],
});

async function asked(definition: unknown, answers: Answer[] = [], options: Options = {}) {
  const model = new FakeModel({ calls: [['human']] }, ...answers, 'Can I help otherwise?');
  const talk = begin(model, { definition, ...options, setup: { hasLine: true, ...options.setup } });
  await talk.conversation.start();
  const outcome = await talk.conversation.userTurn('A human, please');
  return { ...talk, model, outcome };
}

const ended = (result: 'busy' | 'no_answer' | 'failed' | 'completed', more: object = {}): LegFact => ({
  fact: 'ended',
  at: startedAt + 60_000,
  result,
  ...more,
});

describe('a transfer that the model asks for', () => {
  test('is announced, and the talk waits for the human, whom it names', async () => {
    const { conversation, utterances, outcome, events } = await asked(toolAgent());
    expect(utterances).toEqual(['Hi', 'One moment, please. I am connecting you.']);
    expect(outcome).toMatchObject({ status: 'answered', end: null });
    expect(conversation.handedOverLeg).toMatchObject({ number: 1, to: desk, mode: 'cold', summary: null, dialedAt: null });
    expect(events('transfer_requested')).toEqual([{ number: 1, to: desk, mode: 'cold', is_fallback: false }]);
    expect(conversation.nextGuardAt).toBe(Infinity);
  });

  test('has words of its own, which are templates', async () => {
    const { utterances } = await asked(toolAgent({ announcement: 'I connect you, {{ first_name }}.' }));
    expect(utterances[1]).toBe('I connect you, Ada.');
  });

  test('keeps what the caller says meanwhile, and answers nothing', async () => {
    const { conversation, history, model } = await asked(toolAgent());
    const before = model.asked.length;
    expect(await conversation.userTurn('Thank you')).toMatchObject({ status: 'ignored' });
    conversation.interrupt('One mo');
    expect(conversation.handedOverLeg).toBeDefined();
    expect(history().at(-1)).toBe('user: Thank you');
    expect(model.asked).toHaveLength(before);
  });

  test('ends the talk when the human has hung up, and tells for how long they talked', async () => {
    const { conversation } = await asked(toolAgent());
    conversation.markDialed(1);
    conversation.recordLegFact(1, { fact: 'answered', at: startedAt + 5_000 });
    conversation.recordLegFact(1, ended('completed', { seconds: 55, isBridged: true }));
    expect(conversation.state!.end).toMatchObject({ reason: 'transferred' });
    expect(toTransferRecord(conversation.state!.transfers![0]!, startedAt + 60_000)).toMatchObject({
      to: desk,
      state: 'completed',
      answered_at: new Date(startedAt + 5_000).toISOString(),
      seconds: 55,
      reason: null,
    });
  });

  test('goes back to the agent when nobody answers: the model is told, and speaks', async () => {
    const { conversation, model, utterances } = await asked(toolAgent());
    conversation.markDialed(1);
    conversation.recordLegFact(1, ended('no_answer'));
    expect(conversation.state).toMatchObject({ owesAnswer: true, end: null });
    expect(conversation.handedOverLeg).toBeUndefined();
    await conversation.resume();
    expect(utterances.at(-1)).toBe('Can I help otherwise?');
    const { messages } = model.asked.at(-1)!;
    expect(historyFault(messages)).toBeNull();
    expect(JSON.stringify(messages)).toContain('no_answer');
  });

  test('says the sentence for nobody, once, and then the caller has the turn', async () => {
    const { conversation, utterances, model } = await asked(toolAgent({ unanswered_message: 'Nobody is free, {{ first_name }}.' }));
    conversation.recordLegFact(1, ended('busy'));
    const before = model.asked.length;
    await conversation.resume();
    await conversation.resume();
    expect(utterances.slice(-1)).toEqual(['Nobody is free, Ada.']);
    expect(model.asked).toHaveLength(before);
    await conversation.userTurn('Then tell me the price');
    expect(model.asked).toHaveLength(before + 1);
  });

  test('dials the fallback when the first does not answer, and nobody after that', async () => {
    const { conversation } = await asked(toolAgent({ fallback_to: cell }));
    conversation.markDialed(1);
    conversation.recordLegFact(1, ended('no_answer'));
    expect(conversation.handedOverLeg).toMatchObject({ number: 2, to: cell, isFallback: true, dialedAt: null });
    conversation.recordLegFact(1, ended('no_answer'));
    expect(conversation.handedOverLeg).toMatchObject({ number: 2 });
    conversation.recordLegFact(2, ended('busy'));
    expect(conversation.handedOverLeg).toBeUndefined();
    expect(conversation.state!.transfers).toHaveLength(2);
  });
});

describe('a warm transfer', () => {
  test('has a summary of the talk for the human', async () => {
    const model = new FakeModel({ calls: [['human']] });
    model.completeWith = () => ({ summary: 'Ada wants a table for four on Tuesday.' });
    const { conversation } = begin(model, { definition: toolAgent({ mode: 'warm' }), setup: { hasLine: true } });
    await conversation.start();
    await conversation.userTurn('A human, please');
    expect(conversation.handedOverLeg).toMatchObject({ mode: 'warm', summary: 'Ada wants a table for four on Tuesday.' });
    expect(JSON.stringify(model.completions[0]!.messages)).toContain('A human, please');
  });

  test('goes on with a fixed sentence when the model does not answer', async () => {
    const model = new FakeModel({ calls: [['human']] });
    model.completeWith = () => ({ failure: 'timeout', message: 'slow', retryable: true });
    const { conversation, events } = begin(model, { definition: toolAgent({ mode: 'warm' }), setup: { hasLine: true } });
    await conversation.start();
    await conversation.userTurn('A human, please');
    expect(conversation.handedOverLeg!.summary).toBe('A caller is waiting. I am connecting you.');
    expect(events('transfer_summary_failed')).toHaveLength(1);
  });

  test('has failed when the human hangs up during the summary', async () => {
    const { conversation } = await asked(toolAgent({ mode: 'warm' }));
    conversation.recordLegFact(1, { fact: 'answered', at: startedAt });
    conversation.recordLegFact(1, ended('completed', { seconds: 3, isBridged: false }));
    expect(conversation.state!.end).toBeNull();
    expect(toTransferRecord(conversation.state!.transfers![0]!, null)).toMatchObject({
      state: 'failed',
      reason: 'not_connected',
      seconds: null,
    });
  });
});

describe('business hours', () => {
  // startedAt is a Friday, 10:00 in Berlin.
  const hours = (start_time: string, end_time: string) => ({
    timezone: 'Europe/Berlin',
    slots: [{ day_of_week: 4, start_time, end_time }],
  });

  test('let the first number be dialled inside, and the fallback outside', () => {
    const settings = { to: desk, fallback_to: cell, business_hours: hours('09:00', '17:00') };
    expect(chooseTarget(settings, startedAt)).toEqual({ to: desk, isFallback: false });
    expect(chooseTarget(settings, startedAt + 7 * 3_600_000)).toEqual({ to: cell, isFallback: true });
    expect(chooseTarget({ ...settings, fallback_to: null }, startedAt + 7 * 3_600_000)).toBeNull();
  });

  test('outside and without a fallback, the sentence is said and nobody is dialled', async () => {
    const definition = toolAgent({ business_hours: hours('12:00', '17:00'), closed_message: 'We are closed until noon.' });
    const { conversation, utterances, outcome } = await asked(definition);
    expect(utterances).toEqual(['Hi', 'We are closed until noon.']);
    expect(outcome.end).toBeNull();
    expect(conversation.handedOverLeg).toBeUndefined();
    expect(conversation.state).toMatchObject({ owesAnswer: false });
    expect(toTransferRecord(conversation.state!.transfers![0]!, null)).toMatchObject({ state: 'failed', reason: 'closed' });
  });

  test('without a sentence the model is told, and says it', async () => {
    const { utterances, model } = await asked(toolAgent({ business_hours: hours('12:00', '17:00') }), ['We open at noon.']);
    expect(utterances.at(-1)).toBe('We open at noon.');
    expect(JSON.stringify(model.asked.at(-1)!.messages)).toContain('closed');
  });
});

describe('a transfer node', () => {
  test('is entered along an edge', async () => {
    const { conversation, utterances } = await asked(nodeAgent());
    expect(utterances.at(-1)).toBe('One moment, please. I am connecting you.');
    expect(conversation.handedOverLeg).toMatchObject({ nodeId: 'desk', tool: null });
    expect(conversation.state!.nodesVisited).toEqual(['start', 'desk']);
  });

  test('ends the call with a sentence when nobody answers and no edge leaves it', async () => {
    const { conversation, utterances } = await asked(nodeAgent());
    conversation.recordLegFact(1, ended('no_answer'));
    const outcome = await conversation.resume();
    expect(utterances.at(-1)).toBe('I am sorry, nobody can take your call right now. Goodbye.');
    expect(outcome.end).toBe('transfer_failed');
  });

  test('leads along its edge to a node that takes a message', async () => {
    const { conversation, utterances, model } = await asked(nodeAgent({ unanswered_message: 'Nobody is there.' }, 'talk'));
    conversation.recordLegFact(1, ended('no_answer'));
    await conversation.resume();
    expect(utterances.at(-1)).toBe('Nobody is there.');
    await conversation.userTurn('Tell them I called');
    expect(model.asked.at(-1)!.system).toContain('Take a message.');
    expect(conversation.state!.nodesVisited).toEqual(['start', 'desk', 'after']);
  });

  test('leads along its edge to a goodbye, after the sentence', async () => {
    const { conversation, utterances } = await asked(nodeAgent({ unanswered_message: 'Nobody is there.' }, 'end'));
    conversation.recordLegFact(1, ended('no_answer'));
    const outcome = await conversation.resume();
    expect(utterances.slice(-2)).toEqual(['Nobody is there.', 'Can I help otherwise?']);
    expect(outcome.end).toBe('end_node');
  });
});

/** A store that dies, with the conversation on it, at its n-th commit: before it is written or right after. */
class DyingStore extends MemoryConversationStore {
  readonly kept: MemoryConversationStore;
  readonly moment: 'before' | 'after';
  left: number;

  constructor(kept: MemoryConversationStore, left: number, moment: 'before' | 'after') {
    super();
    this.kept = kept;
    this.left = left;
    this.moment = moment;
  }

  override state() {
    return this.kept.state();
  }

  override messages() {
    return this.kept.messages();
  }

  override commit(change: ConversationChange): void {
    const dies = --this.left === 0;
    if (this.left < 0 || (dies && this.moment === 'before')) throw new Error('died');
    this.kept.commit(change);
    if (dies) throw new Error('died');
  }
}

test('a crash at any write leads to one human with a summary, who is dialled once', async () => {
  for (const moment of ['before', 'after'] as const)
    for (let commit = 1, isOver = false; !isOver; commit++) {
      const kept = new MemoryConversationStore();
      const model = new FakeModel(({ messages }) => (messages.at(-1)!.role === 'user' ? { calls: [['human']] } : 'Can I help otherwise?'));
      model.completeWith = () => ({ summary: 'They want a human.' });
      const on = (store: MemoryConversationStore) =>
        begin(model, { definition: toolAgent({ mode: 'warm', fallback_to: cell }), setup: { hasLine: true }, store }).conversation;
      const dying = new DyingStore(kept, commit, moment);
      const talk = async (conversation: ReturnType<typeof on>) => {
        if (conversation.state === null) await conversation.start();
        else if (conversation.state.owesAnswer) await conversation.resume();
        if (kept.messages().every(({ role }) => role !== 'user')) await conversation.userTurn('A human, please');
        conversation.markDialed(1);
        conversation.recordLegFact(1, ended('busy'));
        conversation.markDialed(2);
        conversation.recordLegFact(2, ended('no_answer'));
        await conversation.resume();
      };
      isOver = await talk(on(dying)).then(
        () => true,
        () => false,
      );
      const conversation = on(kept);
      await talk(conversation);
      const { transfers, owesAnswer } = conversation.state!;
      expect(
        transfers!.map(({ number, to, summary, isSettled }) => ({ number, to, summary, isSettled })),
        `${moment} ${commit}`,
      ).toEqual([
        { number: 1, to: desk, summary: 'They want a human.', isSettled: true },
        { number: 2, to: cell, summary: 'They want a human.', isSettled: true },
      ]);
      expect(owesAnswer).toBe(false);
      for (const { messages } of model.asked) expect(historyFault(messages)).toBeNull();
      if (isOver) expect(commit).toBeGreaterThan(8);
    }
});

test('in a chat or test nobody is dialled: the announcement ends the talk', async () => {
  const { conversation, outcome, utterances } = await asked(toolAgent({ mode: 'warm' }), [], { setup: { hasLine: false } });
  expect(outcome.end).toBe('transferred');
  expect(utterances.at(-1)).toBe('One moment, please. I am connecting you.');
  expect(conversation.handedOverLeg).toBeUndefined();
  expect(toTransferRecord(conversation.state!.transfers![0]!, startedAt)).toMatchObject({ state: 'failed', reason: 'not_a_call' });
});

test('the caller who hangs up while it rings has not been transferred; one who talked with the human has', async () => {
  const ringing = await asked(toolAgent());
  ringing.conversation.markDialed(1);
  expect(ringing.conversation.end('hung_up')).toBe('hung_up');
  expect(toTransferRecord(ringing.conversation.state!.transfers![0]!, startedAt)).toMatchObject({
    state: 'failed',
    reason: 'caller_hung_up',
  });
  const talking = await asked(toolAgent());
  talking.conversation.recordLegFact(1, { fact: 'answered', at: startedAt });
  expect(talking.conversation.end('hung_up')).toBe('transferred');
  const record = toTransferRecord(talking.conversation.state!.transfers![0]!, startedAt + 9_000);
  expect(record).toMatchObject({ state: 'completed', seconds: 9 });
});

const newLeg = (mode: 'cold' | 'warm'): TransferLeg => ({
  number: 1,
  nodeId: 'start',
  tool: 'human',
  toolCallId: 'call_1_0',
  to: desk,
  mode,
  isFallback: false,
  requestedAt: startedAt,
  isReady: true,
  summary: null,
  dialedAt: startedAt,
  facts: {},
  isSettled: false,
});

test('reports in any order and any number lead to one record', () => {
  const end = fc.record({
    fact: fc.constant('ended' as const),
    at: fc.integer({ min: startedAt, max: startedAt + 100_000 }),
    result: fc.constantFrom('completed', 'busy', 'no_answer', 'failed', 'cancelled'),
    seconds: fc.nat(600),
    isBridged: fc.option(fc.boolean(), { nil: undefined }),
  });
  const other = fc.record({
    fact: fc.constantFrom('answered' as const, 'machine' as const, 'announced' as const, 'bridged' as const),
    at: fc.integer({ min: startedAt, max: startedAt + 100_000 }),
  });
  const reports = fc
    .tuple(fc.array(other, { maxLength: 4 }), fc.option(end, { nil: undefined }))
    .map(([some, last]) => (last ? [...some, last] : some));
  const plan = reports.chain((list) =>
    fc.tuple(
      fc.constant(list as LegFact[]),
      fc.shuffledSubarray([...list, ...list] as LegFact[], { minLength: 2 * list.length, maxLength: 2 * list.length }),
      fc.constantFrom('cold' as const, 'warm' as const),
    ),
  );
  fc.assert(
    fc.property(plan, ([inOrder, shuffled, mode]) => {
      const [one, again] = [inOrder, shuffled].map((list) => list.reduce(afterLegFact, newLeg(mode)));
      expect(again).toEqual(one);
      expect(wasBridged(again!)).toBe(wasBridged(one!));
      const record = toTransferRecord(one!, startedAt + 200_000);
      expect(record.state === 'completed').toBe(record.reason === null);
      expect(record.seconds === null).toBe(record.state !== 'completed');
      const isMachine = inOrder.some(({ fact }) => fact === 'machine');
      expect(isMachine ? record.reason : 'machine').toMatch(/^machine/);
    }),
  );
});

describe('a definition', () => {
  const problems = (definition: unknown) => validateAgentDefinition(definition).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`);

  test.each([
    ['+12125550123x', 'a phone number with its country code'],
    ['030 12345678', 'a phone number with its country code'],
    ['112', 'a phone number with its country code'],
    ['+19995550123', 'no numbering plan knows it'],
    ['sip:desk@10.0.0.1', 'public SIP address'],
    ['sip:desk@localhost', 'public SIP address'],
    ['sip:desk@[::1]', 'public SIP address'],
    ['sip:desk@pbx.internal:5060', 'public SIP address'],
    ['sip:desk@2130706433', 'public SIP address'],
    ['tel:+12125550123', 'a phone number with its country code'],
  ])('refuses to hand callers to %s', (to, problem) => {
    for (const field of ['to', 'fallback_to']) {
      const [tool] = problems(toolAgent({ [field]: to }));
      expect(tool).toMatch(new RegExp(`^nodes\\.start\\.data\\.tools\\.0\\.transfer\\.${field}: .*${problem}`));
      expect(problems(nodeAgent({ [field]: to }))[0]).toMatch(new RegExp(`^nodes\\.desk\\.data\\.${field}: .*${problem}`));
    }
  });

  test.each(['+49 30 123456-78', '+1 (212) 456-7890', 'sip:desk@pbx.example.com', 'sips:+493012345@pbx.example.com:5061;transport=tls'])(
    'takes %s',
    (to) => expect([problems(toolAgent({ to })), problems(nodeAgent({ to }))]).toEqual([[], []]),
  );

  test('names a tool that is neither or both', () => {
    const agent = toolAgent();
    const tools = agent.nodes[0]!.data.tools as object[];
    tools.push({ name: 'nothing', description: 'Nothing' }, { ...tools[0], name: 'both', http: { url: 'https://example.com' } });
    expect(problems(agent)).toEqual([
      expect.stringMatching(/^nodes\.start\.data\.tools\.1\.http: Give the request in `http`, or the human/),
      expect.stringMatching(/^nodes\.start\.data\.tools\.2\.http: Give `http` or `transfer`, not both/),
    ]);
  });

  test('names a second edge that leaves a transfer, and an edge to another transfer', () => {
    const agent = nodeAgent({}, 'talk');
    agent.nodes.push({ id: 'second', type: 'transfer', data: { to: cell } } as never);
    agent.edges.push({ id: 'e3', source: 'desk', target: 'second', data: { label: 'again', condition: 'again' } });
    expect(problems(agent)).toEqual([expect.stringMatching(/^edges\.e3\.source: "desk" is a transfer, which one edge leaves/)]);
    const chained = nodeAgent();
    chained.nodes.push({ id: 'second', type: 'transfer', data: { to: cell } } as never);
    chained.edges.push({ id: 'e2', source: 'desk', target: 'second', data: { label: 'again', condition: 'again' } });
    expect(problems(chained)).toEqual([expect.stringMatching(/^edges\.e2\.target: .*agentNode or endCall/)]);
  });

  test('names hours that are none, a time zone that is unknown, and a template that does not parse', () => {
    expect(problems(nodeAgent({ business_hours: { timezone: 'Mars/Base', slots: [] } }))).toEqual([
      expect.stringContaining('business_hours.timezone: Unknown time zone'),
      expect.stringContaining('business_hours.slots'),
    ]);
    expect(problems(nodeAgent({ announcement: 'Hello {{ name' }))).toHaveLength(1);
    expect(problems(toolAgent({ closed_message: 'Hello {{ name' }))).toHaveLength(1);
  });
});
