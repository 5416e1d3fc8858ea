import { expect, test } from 'vitest';
import { isOptOut } from '../../src/contacts/suppressions/opt-out-words.ts';
import type { EndedCall } from '../../src/integrations/call-summary/ended-call.ts';
import { isQualified } from '../../src/integrations/call-summary/summary-targets.ts';
import { summaryText } from '../../src/integrations/call-summary/summary-text.ts';

const call: EndedCall = {
  runId: 12,
  agentId: 7,
  agentName: 'Sales',
  phone: '+12125550100',
  contactId: 42,
  outcome: 'completed',
  reason: null,
  disposition: 'interested',
  tags: [],
  isOptOut: false,
  summary: 'She wants a visit on Tuesday.',
  durationSeconds: 125,
  endedAt: Date.UTC(2026, 10, 28, 9),
};

test.each<[Partial<EndedCall>, boolean]>([
  [{}, true],
  [{ disposition: 'callback_requested' }, true],
  [{ disposition: 'resolved' }, true],
  [{ disposition: 'sold_the_blue_one' }, true],
  [{ disposition: 'not_interested' }, false],
  [{ disposition: 'wrong_person' }, false],
  [{ disposition: 'unclear' }, false],
  [{ disposition: 'do_not_call' }, false],
  [{ disposition: 'DNC' }, false],
  [{ disposition: 'interested', tags: ['do not call'] }, false],
  [{ disposition: null }, false],
  [{ outcome: 'voicemail', disposition: null }, false],
  [{ outcome: 'failed' }, false],
])('a call with %j is qualified: %s', (change, isIt) => {
  const ended = { ...call, ...change };
  expect(isQualified({ ...ended, isOptOut: isOptOut(ended) })).toBe(isIt);
});

test('a summary names who was called, by whom, and what came of it', () => {
  expect(summaryText(call, 'Ada Lovelace')).toEqual({
    title: 'Call with Ada Lovelace (+12125550100): interested',
    facts: 'Agent: Sales\nOutcome: completed\nDisposition: interested\nDuration: 2 min 5 s',
    talk: 'She wants a visit on Tuesday.',
  });
  const failed = { ...call, outcome: 'failed', reason: 'agent_not_heard: nobody', disposition: null, summary: null, durationSeconds: 3 };
  expect(summaryText(failed, '')).toEqual({
    title: 'Call with +12125550100: failed',
    facts: 'Agent: Sales\nOutcome: failed (agent_not_heard: nobody)\nDisposition: none\nDuration: 3 s',
    talk: null,
  });
  expect(summaryText({ ...call, phone: null }, 'Ada').title).toBe('Call with Ada: interested');
  expect(summaryText({ ...call, phone: null }, '').title).toBe('Call with an unknown number: interested');
});
