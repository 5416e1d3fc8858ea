import { describe, expect, test } from 'vitest';
import { findBlockingReason, type QueueStatus } from '../../src/calls/slots/blocking-reason.ts';

const open: QueueStatus = {
  cannotDialReason: null,
  queued: { isReady: true, isPersonInCall: false, notBefore: null },
  own: { live: 1, maxLive: 5 },
  plan: { live: 3, limit: 10, free: 7 },
  rate: { begun: 0, perSecond: 1 },
};
const at = Date.parse('2027-03-01T09:00:00Z');

/** Each limit with the change that reaches it, the strongest first. */
const limits: [word: string, change: Partial<QueueStatus>][] = [
  ['telephony_not_configured', { cannotDialReason: 'create one' }],
  ['in_another_call', { queued: { isReady: false, isPersonInCall: true, notBefore: null } }],
  ['carrier_busy', { queued: { isReady: false, isPersonInCall: false, notBefore: at } }],
  ['max_concurrency', { own: { live: 5, maxLive: 5 } }],
  ['call_slots', { plan: { live: 10, limit: 10, free: 0 } }],
  ['calls_per_second', { rate: { begun: 1, perSecond: 1 } }],
];
const wordsOf = (reason: string | null) => reason?.split('; ').map((part) => /^\w+/.exec(part)![0]);

describe('the blocking reason of queued calls', () => {
  test('is null when their turn is next', () => {
    expect(findBlockingReason(open)).toBeNull();
    expect(findBlockingReason({ ...open, own: { live: 500, maxLive: null } })).toBeNull();
  });

  test.each(limits)('names %s alone', (word, change) => {
    expect(wordsOf(findBlockingReason({ ...open, ...change }))).toEqual([word]);
  });

  test('names the stronger of two limits, and both of two equal limits that are reached', () => {
    for (const [index, [strong, change]] of limits.entries())
      for (const [weak, more] of limits.slice(index + 1)) {
        if ('queued' in change && 'queued' in more) continue;
        const expected = strong === 'max_concurrency' && weak === 'call_slots' ? [strong, weak] : [strong];
        expect(wordsOf(findBlockingReason({ ...open, ...more, ...change })), `${strong} and ${weak}`).toEqual(expected);
      }
  });

  test('counts slots in reserve for inbound calls as taken, and mentions them', () => {
    expect(findBlockingReason({ ...open, plan: { live: 9, limit: 10, free: 0 } })).toBe(
      'call_slots: 9 of the 10 calls that the plan allows at once are live, and the others are kept free for inbound calls',
    );
  });
});
