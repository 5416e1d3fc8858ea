import { describe, expect, test } from 'vitest';
import { nextFireAt } from '../../../src/expressions/cron-schedule.ts';
import { conflict } from '../../../src/library/errors.ts';
import { journeyAroundClockChange, changes, day } from '../../support/clock-change-runs.ts';
import { gallery } from '../../support/gallery.ts';
import type { SimulatedWorld } from '../../support/simulated-runs.ts';

describe.each(changes)('nightly list sweep around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, zone, run } = journeyAroundClockChange(change, 'nightly-list-sweep');

  const night = on(0, '04:15');
  const sweep = (custom_fields: Record<string, unknown>, world?: SimulatedWorld) =>
    run(night, { context: {}, contact: { custom_fields }, ...(world ? { world } : {}) });

  test('fires at 04:15 once each night, also in that of the change', () => {
    const config = gallery['nightly-list-sweep'].journey.trigger.config as { cron: string };
    let fired = Date.parse(on(-2, '12:00'));
    for (const days of [-1, 0, 1]) {
      fired = nextFireAt(config.cron, zone, fired)!;
      expect(fired).toBe(Date.parse(on(days, '04:15')));
    }
  });

  test.each([
    ['became_active', exactly(night, -30 * day)],
    ['became_cooling', exactly(night, -30 * day - 1000)],
    ['became_cooling', exactly(night, -90 * day)],
    ['became_lapsed', exactly(night, -90 * day - 1000)],
    ['never_ordered', undefined],
  ])('%s by an order of %s: the days are exact', async (outcome, last_order_at) => {
    expect((await sweep({ customer_status: 'new', last_order_at })).outcome).toBe(outcome);
  });

  test('writes who has changed, and touches nobody else', async () => {
    const lapsed = { last_order_at: exactly(night, -100 * day) };
    const changed = await sweep({ ...lapsed, customer_status: 'cooling' }, {});
    expect(changed.performed.map(({ effect, request }) => [effect, request])).toEqual([
      ['list_membership', { add: ['Lapsed customers'], remove: ['Active customers', 'Cooling customers'] }],
      [
        'update_contact',
        {
          set: {
            'custom_fields.customer_status': 'lapsed',
            'custom_fields.customer_status_since': new Date(night).toISOString(),
          },
          add_tags: [],
          remove_tags: [],
        },
      ],
    ]);
    expect(await sweep({ ...lapsed, customer_status: 'lapsed' }, {})).toMatchObject({ outcome: 'unchanged', performed: [] });
  });

  test('lists that cannot be changed do not keep the status from being written', async () => {
    const world = { refuses: { list_membership: conflict('The list is being deleted') } };
    const changed = await sweep({ customer_status: 'new', last_order_at: exactly(night, -day) }, world);
    expect(changed).toMatchObject({ outcome: 'became_active', performed: [{ effect: 'update_contact' }] });
  });
});
