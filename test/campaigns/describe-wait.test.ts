import { describe, expect, test } from 'vitest';
import { describeWait, type CampaignWaitFacts, type WaitingRow } from '../../src/campaigns/queries/describe-wait.ts';

const now = Date.parse('2027-03-01T09:00:00Z');
const minutes = (count: number) => now + count * 60_000;
const row = (more: Partial<WaitingRow>): WaitingRow => {
  const due = more.due ?? minutes(2);
  return { due, notBefore: due, opensAt: due, reason: 'busy: retry 1 of 2', ...more };
};
const waits = (more: Partial<CampaignWaitFacts>) =>
  describeWait({ requested: { queued: 0, waitingFor: null }, row: null, newRowsOpenAt: null, now, ...more });

describe('what a campaign waits for', () => {
  test('nothing, when no row waits for a moment', () => {
    expect(waits({})).toBeNull();
    expect(waits({ row: row({ due: minutes(-1) }) })).toBeNull();
  });

  test.each([
    ['a retry', row({}), 'retry_delay', minutes(2)],
    ['a person who was just called', row({ reason: 'too_soon: less than 2 hours ago' }), 'min_hours_between_calls', minutes(2)],
    ['a person whom the contact policy leaves alone', row({ reason: 'contact_policy: at most 1 call' }), 'contact_policy', minutes(2)],
    ['a call that its window closed on', row({ reason: 'window_closed: before a slot was free' }), 'calling_window', minutes(2)],
    ['a retry that the window moved', row({ due: minutes(60), notBefore: minutes(2) }), 'calling_window', minutes(60)],
    ['a retry that is due while the window is closed', row({ opensAt: minutes(60) }), 'calling_window', minutes(60)],
    [
      'a person who was just called, in a window that opens later',
      row({ reason: 'too_soon: x', opensAt: minutes(60) }),
      'calling_window',
      minutes(60),
    ],
  ])('%s', (_what, waiting, word, at) => {
    expect(waits({ row: waiting })).toMatch(new RegExp(`^${word}: .* ${new Date(at).toISOString()}$`));
  });

  test('of a retry and rows that were never called, whichever comes first', () => {
    expect(waits({ newRowsOpenAt: minutes(5) })).toMatch(/^calling_window: .*09:05:00/);
    expect(waits({ row: row({}), newRowsOpenAt: minutes(5) })).toMatch(/^retry_delay: .*09:02:00/);
    expect(waits({ row: row({ due: minutes(9) }), newRowsOpenAt: minutes(5) })).toMatch(/^calling_window: .*09:05:00/);
  });

  test('requested calls wait for the reason of the call slots, whatever other rows wait for', () => {
    const asked = { queued: 2, waitingFor: 'call_slots: all are live' };
    expect(waits({ requested: asked, row: row({}), newRowsOpenAt: minutes(5) })).toBe('call_slots: all are live');
    expect(waits({ requested: { queued: 1, waitingFor: null }, row: row({}) })).toBeNull();
  });
});
