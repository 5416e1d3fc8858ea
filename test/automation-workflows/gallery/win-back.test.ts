import { describe, expect, test } from 'vitest';
import { conflict } from '../../../src/library/errors.ts';
import {
  journeyAroundClockChange,
  changes,
  day,
  eventAt,
  message,
  listOutgoing,
  toStepLines,
  voiceCall,
} from '../../support/clock-change-runs.ts';

describe.each(changes)('win-back around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, run } = journeyAroundClockChange(change, 'win-back');

  const lapsed = { custom_fields: { customer_status: 'lapsed' } };
  const [called, texted, controlled] = [42, 41, 40].map((id) => ({ id, ...lapsed }));
  const friday = on(-2, '12:00');
  const monday = on(1, '10:00:01');

  test.each([
    ['called', called, [`${monday} ${voiceCall}`], 'not_won_by_call'],
    ['texted', texted, [`${monday} ${message}`], 'not_won_by_text'],
    ['left to themselves', controlled, [], 'not_won_by_nothing'],
  ])('on Monday at ten some are %s, and measured for exactly two weeks', async (_how, contact, sent, outcome) => {
    const tried = await run(friday, { contact: contact!, world: {} });
    expect(tried.steps.slice(0, 3)).toEqual(toStepLines([friday, 'start', 'morning'], [on(1, '10:00'), 'ordered']));
    expect(listOutgoing(tried)).toEqual(sent);
    expect(tried.steps.slice(-2)).toEqual(toStepLines([on(15, '10:00:01'), 'tried', 'not_won']));
    expect(tried.outcome).toBe(outcome);
  });

  test('two weeks are exact also when the clocks change in them', async () => {
    const tried = await run(on(-13, '09:00'), { contact: called! });
    expect(tried.steps.slice(2, 4)).toEqual(toStepLines([on(-13, '10:00'), 'ordered'], [on(-13, '10:00:01'), 'still']));
    expect(tried.steps.at(-1)).toBe(`${exactly(on(-13, '10:00:01'), 14 * day)} not_won`);
  });

  test('an order before the morning leaves them alone, one in the two weeks is won, one later is not', async () => {
    const order = (to: string) => ({ contact: called!, events: [eventAt(to, friday, 'order_placed', { order_id: 'A-1' })], world: {} });
    expect(await run(friday, order(on(0, '18:00')))).toMatchObject({ outcome: 'came_back_alone', performed: [] });
    const won = await run(friday, order(on(15, '09:59')));
    expect(won.outcome).toBe('won_back_by_call');
    expect(won.performed.slice(-2)).toMatchObject([
      { effect: 'update_contact', request: { set: { 'custom_fields.customer_status': 'active', 'custom_fields.won_back_by': 'call' } } },
      { effect: 'list_membership', request: { add: ['Active customers'], remove: ['Lapsed customers'] } },
    ]);
    expect((await run(friday, order(on(15, '10:01')))).outcome).toBe('not_won_by_call');
  });

  test('who is no longer lapsed on Monday, or opted out by then, is left alone; an agent that cannot call ends it', async () => {
    expect((await run(friday, { contact: { custom_fields: { customer_status: 'active' } } })).outcome).toBe('no_longer_lapsed');
    const events = [eventAt(on(0, '12:00'), friday, 'contact_opted_out')];
    expect((await run(friday, { contact: called!, events })).outcome).toBe('exited');
    const refused = await run(friday, { contact: called!, world: { refuses: { voice_call: conflict('Agent 7 is archived') } } });
    expect(refused.outcome).toBe('not_reached');
  });
});
