import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredMessage } from '../../src/voice-agents/conversation/contract.ts';
import { findDueAction, nextDueAt, type Guards, type GuardTimes } from '../../src/voice-agents/conversation/guards.ts';
import { toModelMessages, findOpenToolCalls, countToolRounds } from '../../src/voice-agents/conversation/model-messages.ts';
import { historyFault } from './begin.ts';

const guards: fc.Arbitrary<Guards> = fc.record({
  maxCallDurationSeconds: fc.integer({ min: 1, max: 1200 }),
  maxUserIdleSeconds: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(Infinity)),
});
const moments: fc.Arbitrary<GuardTimes> = fc.record({
  startedAt: fc.integer({ min: 0, max: 1e12 }),
  quietSince: fc.option(fc.integer({ min: 0, max: 1e12 })),
  isIdlePrompted: fc.boolean(),
});

test('nothing is due before the next moment, and something is from then on', () => {
  fc.assert(
    fc.property(guards, moments, fc.integer({ min: 1, max: 1e7 }), (rules, at, distance) => {
      const next = nextDueAt(rules, at);
      expect(findDueAction(rules, at, next - distance)).toBe('none');
      expect(findDueAction(rules, at, next)).not.toBe('none');
      expect(findDueAction(rules, at, next + distance)).not.toBe('none');
    }),
  );
});

test('silence is answered by a question first; while it is not the other side that is silent, only the length of the call counts', () => {
  fc.assert(
    fc.property(guards, moments, fc.integer({ min: 0, max: 2e12 }), (rules, at, now) => {
      const action = findDueAction(rules, at, now);
      if (action === 'prompt') expect(at.isIdlePrompted).toBe(false);
      if (action === 'end_idle') expect(at.isIdlePrompted).toBe(true);
      if (at.quietSince === null) expect(['none', 'end_duration']).toContain(action);
      expect(action === 'end_duration').toBe(now >= at.startedAt + rules.maxCallDurationSeconds * 1000);
    }),
  );
});

/** Histories as they come about: answers of tools late, lost, or behind other things. */
const history: fc.Arbitrary<StoredMessage[]> = fc
  .array(
    fc.record({
      role: fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const),
      text: fc.constantFrom('', 'some words', '{"status":"ok"}'),
      calls: fc.nat(3),
      pick: fc.nat(),
      isSound: fc.boolean(),
    }),
    { maxLength: 30 },
  )
  .map((entries) => {
    const open: string[] = [];
    const messages: StoredMessage[] = [];
    for (const [id, { role, text, calls, pick, isSound }] of entries.entries()) {
      const base = { id, at: 0, nodeId: 'n', role, text };
      if (role === 'user') messages.push({ ...base, text: text || 'hello' });
      else if (role === 'tool' && open.length > 0) messages.push({ ...base, toolCallId: open.splice(pick % open.length, 1)[0]! });
      else if (role === 'assistant') {
        const toolCalls = Array.from({ length: calls }, (_, index) => ({
          id: `call_${id}_${index}`,
          name: 'x',
          arguments: isSound ? '{}' : '{"',
        }));
        open.push(...toolCalls.map((call) => call.id));
        messages.push({ ...base, ...(calls > 0 && { toolCalls }) });
      }
    }
    return messages;
  });

test('the history for the model is one that the provider takes, with everything that was said in its order', () => {
  fc.assert(
    fc.property(history, (messages) => {
      const shown = toModelMessages(messages);
      expect(historyFault(shown)).toBeNull();
      const spoken = messages.filter(({ role, text }) => role !== 'tool' && text !== '').map(({ role, text }) => `${role}: ${text}`);
      expect(
        shown.filter(({ role, content }) => role !== 'tool' && content !== null).map(({ role, content }) => `${role}: ${content}`),
      ).toEqual(spoken);
      for (const message of shown)
        if (message.role === 'assistant') for (const call of message.tool_calls ?? []) JSON.parse(call.arguments);
    }),
  );
});

test('a history that is too long keeps its newest part, whole', () => {
  const long = Array.from({ length: 100 }, (_, id): StoredMessage[] => [
    { id: 3 * id, at: 0, nodeId: 'n', role: 'user', text: 'x'.repeat(5_000) },
    { id: 3 * id + 1, at: 0, nodeId: 'n', role: 'assistant', text: '', toolCalls: [{ id: `c${id}`, name: 'x', arguments: '{}' }] },
    { id: 3 * id + 2, at: 0, nodeId: 'n', role: 'tool', text: 'y'.repeat(5_000), toolCallId: `c${id}` },
  ]).flat();
  const shown = toModelMessages(long);
  expect(historyFault(shown)).toBeNull();
  expect(shown.length).toBeGreaterThan(30);
  expect(JSON.stringify(shown).length).toBeLessThan(210_000);
  expect(shown.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c99' });
  const single: StoredMessage[] = [{ id: 1, at: 0, nodeId: 'n', role: 'user', text: 'x'.repeat(300_000) }];
  expect(toModelMessages(single)).toHaveLength(1);
});

test('rounds and open calls are those of the newest turn', () => {
  fc.assert(
    fc.property(history, (messages) => {
      const said: StoredMessage = { id: 99, at: 0, nodeId: 'n', role: 'user', text: 'hello' };
      expect(countToolRounds([...messages, said])).toBe(0);
      expect(findOpenToolCalls([...messages, said])).toBeNull();
      const call: StoredMessage = { ...said, id: 100, role: 'assistant', toolCalls: [{ id: 'new', name: 'x', arguments: '' }] };
      expect(findOpenToolCalls([...messages, call])?.calls.map(({ id }) => id)).toEqual(['new']);
      expect(countToolRounds([...messages, said, call])).toBe(1);
    }),
  );
});
