import { describe, expect, test } from 'vitest';
import { journeyAroundClockChange, changes, toStepLines } from '../../support/clock-change-runs.ts';

describe.each(changes)('order paid around the change of the clocks of $zone on $sunday', (change) => {
  const { on, run } = journeyAroundClockChange(change, 'order-paid-webhook');

  test('tells of the order at once, at night and on the Sunday, with its cart', async () => {
    for (const moment of [on(-1, '23:30'), on(0, '12:00'), on(1, '04:00')]) {
      const paid = await run(moment, { world: {} });
      expect(paid.steps).toEqual(toStepLines([moment, 'start', 'tell', 'told']));
      const data = { cart_id: 'c-1007', order_id: 'A-17', total: '129.90' };
      expect(paid.performed).toMatchObject([{ effect: 'emit_event', request: { event_type: 'order_placed', data } }]);
    }
  });

  test('an order without a cart names none, so that it ends no run by a cart', async () => {
    const paid = await run(on(1, '12:00'), { context: { order_id: 'A-18' }, world: {} });
    expect(paid.performed[0]!.request.data.cart_id).toBeNull();
  });
});
