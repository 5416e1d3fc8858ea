import { describe, expect, test } from 'vitest';
import { conflict } from '../../../src/library/errors.ts';
import { journeyAroundClockChange, changes, day, eventAt, listOutgoing, toStepLines } from '../../support/clock-change-runs.ts';

describe.each(changes)('review request around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, run } = journeyAroundClockChange(change, 'review-request');

  const friday = on(-2, '14:00');
  const tuesday = on(2, '10:00');

  test('asks on the first ten o’clock after three calendar days, and waits exactly a week', async () => {
    const asked = await run(friday);
    expect(asked.steps).toEqual(
      toStepLines(
        [friday, 'start', 'three_days'],
        [on(1, '14:00'), 'at_ten'],
        [tuesday, 'refunded'],
        [on(2, '10:00:01'), 'may_ask', 'ask', 'review'],
        [on(9, '10:00:01'), 'no_review'],
      ),
    );
  });

  test('a week is exact also when the clock changes in it', async () => {
    const asked = await run(on(-8, '09:00'));
    expect(asked.steps).toContain(`${on(-5, '10:00')} refunded`);
    expect(asked.steps.at(-1)).toBe(`${exactly(on(-5, '10:00:01'), 7 * day)} no_review`);
  });

  test.each([
    ['refunded', [['order_refunded', { order_id: 'A-19' }]]],
    ['refunded', [['order_returned', { order_id: 'A-19' }]]],
    ['no_review', [['order_refunded', { order_id: 'A-2' }]]],
    ['exited', [['complaint_opened', {}]]],
    ['exited', [['contact_opted_out', {}]]],
  ] as const)('ends as %s after %j over the weekend', async (outcome, [[type, data]]) => {
    const events = [eventAt(on(0, '12:00'), friday, type, data)];
    const done = await run(friday, { events, world: {} });
    expect(done.outcome).toBe(outcome);
    expect(listOutgoing(done)).toHaveLength(outcome === 'no_review' ? 1 : 0);
  });

  test.each([
    [5, 'promoter'],
    [4, 'promoter'],
    [3, 'reviewed'],
    ['2', 'unhappy'],
    [1, 'unhappy'],
  ])('%j stars end as %s', async (rating, outcome) => {
    const events = [eventAt(on(3, '12:00'), friday, 'review_submitted', { order_id: 'A-19', rating, text: 'So so' })];
    const done = await run(friday, { events, world: {} });
    expect(done.outcome).toBe(outcome);
    const inTools = done.performed.filter(({ effect }) => ['sheet_row', 'tracker_issue', 'calendar_event'].includes(effect));
    const forUnhappy = [
      ['tracker_issue', on(3, '12:00')],
      ['calendar_event', on(3, '12:00')],
    ];
    expect(inTools.map(({ effect, at }) => [effect, at])).toEqual([
      ['sheet_row', on(3, '12:00')],
      ...(outcome === 'unhappy' ? forUnhappy : []),
    ]);
    expect(inTools[0]!.request.values).toMatchObject({ Order: 'A-19', Stars: String(rating), Review: 'So so' });
    if (outcome === 'unhappy') expect(Date.parse(inTools[2]!.request.start) - Date.parse(on(3, '12:00'))).toBe(day);
  });

  test('who has no sheet still gets to the stars', async () => {
    const events = [eventAt(on(3, '12:00'), friday, 'review_submitted', { order_id: 'A-19', rating: 5, text: 'So so' })];
    const world = { refuses: { sheet_row: conflict('not there') } };
    expect(await run(friday, { events, world })).toMatchObject({ state: 'completed', outcome: 'promoter' });
  });

  test('who had a refund this month, has no phone or wants no contact is not asked', async () => {
    for (const contact of [{ custom_fields: { last_refund_at: on(-20, '12:00') } }, { phone: null }, { tags: ['do-not-contact'] }])
      expect(await run(friday, { contact, world: {} })).toMatchObject({ outcome: 'not_asked', performed: [] });
  });
});
