import { describe, expect, test } from 'vitest';
import { MemoryConversationStore } from '../../src/voice-agents/conversation/memory-store.ts';
import type { SummaryMessage, SummarySending } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { toTransferRecords } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { validateAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { begin, startedAt } from './begin.ts';
import { FakeModel } from './fake-model.ts';

const desk = '+493012345678';
const cell = '+4915112345678';
const pager = '+4915199999999';

const agent = (transfer: object = {}) => ({
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      data: {
        prompt: 'Help.',
        greeting: 'Hi',
        tools: [{ name: 'human', description: 'Asks for a human', transfer: { to: desk, mode: 'warm', summary: 'send', ...transfer } }],
      },
    },
  ],
  edges: [],
});

interface Sender {
  answer?: (message: SummaryMessage) => Promise<SummarySending>;
  store?: MemoryConversationStore;
}

/** A talk in which the caller has asked for a human, and the messages that were sent. */
async function handedOver(transfer: object = {}, { answer = async () => ({ messageId: 'SM1' }), store }: Sender = {}) {
  const model = new FakeModel({ calls: [['human']] }, 'Can I help otherwise?');
  model.completeWith = () => ({ summary: 'Ada wants to cancel order 7.' });
  const messages: SummaryMessage[] = [];
  const sendSummary = (message: SummaryMessage) => (messages.push(message), answer(message));
  // A message that is never answered is waited for no longer than this.
  const sleep = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
  const talk = begin(model, {
    definition: agent(transfer),
    setup: { hasLine: true },
    world: { sendSummary, sleep },
    ...(store && { store }),
  });
  await talk.conversation.start();
  await talk.conversation.userTurn('A human, please');
  const records = () => toTransferRecords(talk.conversation.state!.transfers!, null);
  return { ...talk, model, messages, records };
}

describe('a summary that is sent', () => {
  test('is sent to the human before they are dialled, once, and is told in the record', async () => {
    const { conversation, messages, records, events } = await handedOver();
    expect(messages).toEqual([{ key: 'run-7:transfer:1', to: desk, text: 'Ada wants to cancel order 7.', template: null }]);
    expect(conversation.handedOverLeg).toMatchObject({ number: 1, dialedAt: null });
    expect(records()).toMatchObject([{ summary_message: { to: desk, state: 'sent', message_id: 'SM1', reason: null } }]);
    expect(events('transfer_summary_sent')).toMatchObject([{ number: 1, summary_to: desk, message_id: 'SM1' }]);
    await conversation.sendSummary(1);
    expect(messages).toHaveLength(1);
  });

  test('goes to the number that is named, with the template that is named', async () => {
    const { messages } = await handedOver({
      to: 'sip:desk@example.com',
      summary_to: pager,
      summary_template: { name: 'handover', language: 'en', placeholder: 'summary' },
    });
    expect(messages).toMatchObject([{ to: pager, template: { name: 'handover', language: 'en', placeholder: 'summary' } }]);
  });

  test.each([
    ['is refused', async () => ({ problem: 'not_on_channel: no such number' }), 'not_on_channel: no such number'],
    ['breaks', () => Promise.reject(new Error('boom')), 'Error'],
    ['is not answered', () => new Promise<never>(() => undefined), expect.stringMatching(/had not answered in time/)],
  ] as const)('does not lose the caller when it %s: the human is dialled, and the record tells why', async (_what, answer, reason) => {
    const { conversation, records, events } = await handedOver({}, { answer });
    expect(conversation.handedOverLeg).toMatchObject({ number: 1, to: desk });
    expect(records()).toMatchObject([{ state: 'requested', summary_message: { state: 'failed', message_id: null, reason } }]);
    expect(events('transfer_summary_not_sent')).toMatchObject([{ number: 1, problem: reason }]);
  });

  test('is sent to the fallback, too, unless both have one number for it', async () => {
    for (const [transfer, receivers] of [
      [{ fallback_to: cell }, [desk, cell]],
      [{ fallback_to: cell, summary_to: pager }, [pager]],
    ] as const) {
      const { conversation, messages, records } = await handedOver(transfer);
      conversation.markDialed(1);
      conversation.recordLegFact(1, { fact: 'ended', at: startedAt, result: 'busy' });
      await conversation.sendSummary(2);
      expect(messages.map(({ to }) => to)).toEqual(receivers);
      expect(records()).toMatchObject([
        { request: 1, reason: 'busy' },
        { request: 1, is_fallback: true, summary_message: { to: receivers.at(-1), state: 'sent' } },
      ]);
    }
  });

  test('is sent under its key again after a crash before its outcome was written', async () => {
    const kept = new MemoryConversationStore();
    const answer = async (): Promise<SummarySending> => {
      // The object dies while the message is on its way.
      kept.commit = () => {
        throw new Error('died');
      };
      return { messageId: 'SM1' };
    };
    await handedOver({}, { answer, store: kept }).catch(() => undefined);
    delete (kept as Partial<MemoryConversationStore>).commit;
    expect(kept.state()!.transfers).toMatchObject([{ isReady: false, sending: { outcome: null } }]);
    const messages: SummaryMessage[] = [];
    const sendSummary = async (message: SummaryMessage) => (messages.push(message), { messageId: 'SM1' });
    const model = new FakeModel();
    const { conversation } = begin(model, {
      definition: agent(),
      setup: { hasLine: true },
      world: { sendSummary, sleep: () => new Promise(() => undefined) },
      store: kept,
    });
    await conversation.resume();
    expect(messages).toMatchObject([{ key: 'run-7:transfer:1', text: 'Ada wants to cancel order 7.' }]);
    expect(conversation.handedOverLeg).toMatchObject({ isReady: true, sending: { outcome: { messageId: 'SM1' } } });
    expect(model.asked).toEqual([]);
  });

  test('is none in a cold transfer, and none where it is said', async () => {
    for (const transfer of [{ mode: 'cold' }, { summary: 'say' }]) {
      const { messages, records } = await handedOver(transfer);
      expect(messages).toEqual([]);
      expect(records()[0]).not.toHaveProperty('summary_message');
    }
  });
});

describe('a definition', () => {
  const problems = (transfer: object) => validateAgentDefinition(agent(transfer)).map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`);

  test('names a number for the summary where a SIP address is dialled', () => {
    const missing = [expect.stringMatching(/^summary_to: Is missing; a SIP address gets no messages/)];
    expect(problems({ to: 'sip:desk@example.com' })).toEqual(missing);
    expect(problems({ fallback_to: 'sip:desk@example.com' })).toEqual(missing);
    expect(problems({ to: 'sip:desk@example.com', summary_to: pager })).toEqual([]);
    expect(problems({ to: 'sip:desk@example.com', mode: 'cold' })).toEqual([]);
    expect(problems({ to: 'sip:desk@example.com', summary: 'say' })).toEqual([]);
  });

  test('sends no summary to what is no phone number', () => {
    for (const to of ['sip:desk@example.com', '12', 'desk']) expect(problems({ summary_to: to })).toHaveLength(1);
    expect(problems({ summary: 'fax' })).toHaveLength(1);
  });
});
