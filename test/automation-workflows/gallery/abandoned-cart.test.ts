import { describe, expect, test } from 'vitest';
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
import { conflict } from '../../../src/library/errors.ts';
import { gallery } from '../../support/gallery.ts';

describe.each(changes)('abandoned cart around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, run } = journeyAroundClockChange(change, 'abandoned-cart');

  const cart = { cart_id: 'c-1007' };

  test('a cart of Saturday evening is called about on Monday at nine, then texted, then given two days', async () => {
    const saturday = on(-1, '19:30');
    const late = await run(saturday, { world: { call: () => ({ outcome: 'no_answer' }) } });
    expect(late.steps).toEqual(
      toStepLines(
        [saturday, 'start', 'shopping'],
        [on(-1, '20:30'), 'may_contact', 'remember', 'call'],
        [on(1, '09:00'), 'call', 'text', 'decide'],
        [on(3, '09:00'), 'not_bought'],
      ),
    );
    expect(late).toMatchObject({ state: 'completed', outcome: 'not_bought' });
  });

  test('who talked with us on Saturday has exactly 48 hours, whatever the clock says then', async () => {
    const noon = on(-1, '12:00');
    const talked = await run(noon);
    const answered = on(-1, '13:00');
    expect(talked.steps.slice(-3)).toEqual(toStepLines([answered, 'call', 'decide'], [exactly(answered, 2 * day), 'not_bought']));
    expect(talked.steps.join()).not.toContain('text');
  });

  test('an order that comes while the call waits for the morning ends it, and nobody is called', async () => {
    const saturday = on(-1, '19:30');
    const ordered = [eventAt(on(0, '12:00'), saturday, 'order_placed', { ...cart, order_id: 'A-1' })];
    const exited = await run(saturday, { events: ordered, world: {} });
    expect(exited.outcome).toBe('exited');
    expect(exited.steps.at(-1)).toBe(`${on(-1, '20:30')} call skipped`);
    expect(listOutgoing(exited)).toEqual([]);
    const another = [eventAt(on(0, '12:00'), saturday, 'order_placed', { cart_id: 'c-9', order_id: 'A-1' })];
    const called = await run(saturday, { events: another, world: {} });
    expect(listOutgoing(called)).toEqual([`${on(1, '09:00')} ${voiceCall}`]);
  });

  test('every change of the cart begins the hour anew, and the wait hears an order by itself, too', async () => {
    const noon = on(-1, '12:00');
    const more = [15, 55].map((minute) => eventAt(on(-1, `12:${minute}`), noon, 'cart_added', cart));
    const shopping = await run(noon, { events: more });
    expect(shopping.steps).toContain(`${on(-1, '13:55')} may_contact`);
    const { settings, ...journey } = gallery['abandoned-cart'].journey;
    const events = [eventAt(on(-1, '12:30'), noon, 'order_placed', cart)];
    const bought = await run(noon, { journey: { ...journey, settings: { ...settings, exit_on: [] } }, events });
    expect(bought.outcome).toBe('bought');
  });

  test('a call that nobody answers in half an hour is taken back and becomes a text', async () => {
    const unanswered = await run(on(-1, '12:00'), { world: { call: () => null } });
    expect(listOutgoing(unanswered)).toEqual([`${on(-1, '13:00')} ${voiceCall}`, `${on(-1, '13:30')} ${message}`]);
    expect(unanswered.outcome).toBe('not_bought');
  });

  test('an agent that cannot call makes it a text, and a text that cannot be sent either ends it', async () => {
    const noon = on(-1, '12:00');
    const refuses = { voice_call: conflict('Agent 7 is archived') };
    const texted = await run(noon, { world: { refuses } });
    expect(listOutgoing(texted)).toEqual([`${on(-1, '13:00')} ${message}`]);
    expect(texted.outcome).toBe('not_bought');
    for (const kind of ['not_on_channel', 'template_missing'] as const) {
      const failure = { failure: kind, message: 'not today' };
      expect((await run(noon, { world: { refuses, message: () => ({ failure }) } })).outcome).toBe('not_reached');
    }
  });

  test.each([
    ['has no phone', { phone: null }],
    ['does not want to be contacted', { tags: ['do-not-contact'] }],
    ['contacted about a cart the day before', { custom_fields: { cart_contacted_at: on(-2, '12:00') } }],
  ])('who %s is left alone', async (_reason, contact) => {
    expect(await run(on(-1, '10:00'), { contact, world: {} })).toMatchObject({ outcome: 'left_alone', performed: [] });
  });
});
