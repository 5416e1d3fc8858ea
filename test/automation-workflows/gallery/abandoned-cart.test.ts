import { describe, expect, test } from 'vitest';
import { aroundChange, calls, changes, day, eventAt, messages, requestsOf, visits } from '../../support/around-change.ts';
import { gallery } from '../../support/gallery.ts';
import type { World } from '../../support/virtual-runs.ts';

describe.each(changes)('abandoned cart around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, run } = aroundChange(change, 'abandoned-cart');

  const cart = { cart_id: 'c-1007' };

  test('a cart of Saturday evening is called about on Monday at nine, then texted, then given two days', async () => {
    const saturday = on(-1, '19:30');
    const late = await run(saturday);
    expect(late.steps).toEqual(
      visits(
        [saturday, 'start', 'shopping'],
        [on(-1, '20:30'), 'may_contact', 'remember', 'call'],
        [on(1, '09:00'), 'call', 'call_result'],
        [on(1, '09:30'), 'text', 'decide'],
        [on(3, '09:30'), 'not_bought'],
      ),
    );
    expect(late).toMatchObject({ state: 'completed', outcome: 'not_bought' });
  });

  test('who talked with us on Saturday has exactly 48 hours, whatever the clock says then', async () => {
    const noon = on(-1, '12:00');
    const talked = await run(noon, {
      events: [eventAt(on(-1, '13:07'), noon, 'call_ended', { reference: 'cart-c-1007', result: 'answered' })],
    });
    const answered = on(-1, '13:07');
    expect(talked.steps.slice(-3)).toEqual(visits([answered, 'talked', 'decide'], [exactly(answered, 2 * day), 'not_bought']));
    expect(talked.steps.join()).not.toContain('text');
  });

  test('an order that comes while the call waits for the morning ends it, and nobody is called', async () => {
    const saturday = on(-1, '19:30');
    const ordered = [eventAt(on(0, '12:00'), saturday, 'order_placed', { ...cart, order_id: 'A-1' })];
    const exited = await run(saturday, { events: ordered, world: {} });
    expect(exited.outcome).toBe('exited');
    expect(exited.steps.at(-1)).toBe(`${on(-1, '20:30')} call skipped`);
    expect(requestsOf(exited)).toEqual([]);
    const another = [eventAt(on(0, '12:00'), saturday, 'order_placed', { cart_id: 'c-9', order_id: 'A-1' })];
    const called = await run(saturday, { events: another, world: {} });
    expect(requestsOf(called)).toEqual([`${on(1, '09:00')} ${calls}`, `${on(1, '09:30')} ${messages}`]);
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

  test('a dialer that fails three times makes it a text, and two that fail end it', async () => {
    const noon = on(-1, '12:00');
    const dead = (...paths: string[]): World => ({
      answer: ({ url }) => ({ status: paths.some((path) => url.endsWith(path)) ? 503 : 202 }),
    });
    const texted = await run(noon, { world: dead('/calls') });
    expect(requestsOf(texted).map((request) => request.split(' ').slice(1).join(' '))).toEqual([calls, calls, calls, messages]);
    expect(new Set(texted.performed.map(({ request }) => request.key)).size).toBe(3);
    expect(texted.outcome).toBe('not_bought');
    expect((await run(noon, { world: dead('/calls', '/messages') })).outcome).toBe('not_reached');
  });

  test.each([
    ['has no phone', { phone: null }],
    ['does not want to be contacted', { tags: ['do-not-contact'] }],
    ['heard of a cart the day before', { custom_fields: { cart_contacted_at: on(-2, '12:00') } }],
  ])('who %s is left alone', async (_reason, contact) => {
    expect(await run(on(-1, '10:00'), { contact, world: {} })).toMatchObject({ outcome: 'left_alone', performed: [] });
  });
});
