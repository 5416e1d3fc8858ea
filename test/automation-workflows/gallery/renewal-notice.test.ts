import { describe, expect, test } from 'vitest';
import { conflict } from '../../../src/library/errors.ts';
import {
  journeyAroundClockChange,
  changes,
  eventAt,
  message,
  listOutgoing,
  toStepLines,
  voiceCall,
} from '../../support/clock-change-runs.ts';
import { gallery } from '../../support/gallery.ts';
import { simulateJourney } from '../../support/simulated-runs.ts';

describe.each(changes)('renewal notice around the change of the clocks of $zone on $sunday', (change) => {
  const { on, zone, run } = journeyAroundClockChange(change, 'renewal-notice');

  const dateOf = (moment: string) => moment.slice(0, 10);
  const thursday = on(25, '10:00');
  const renewsOn = (date: string) => ({ contact: { custom_fields: { renews_on: date } } });
  const child = { run_id: 8, state: 'completed' as const, outcome: 'won_back_by_call', error: null, variables: {} };

  test('at ten 30 days before, seven days before and on the day, on either side of the change', async () => {
    const set = on(-10, '16:00');
    const lapsed = await run(set, { ...renewsOn(dateOf(thursday)), world: { child } });
    expect(lapsed.steps).toEqual(
      toStepLines(
        [set, 'start', 'keep', 'remember', 'month_before'],
        [on(-5, '10:00'), 'still', 'text', 'week_before'],
        [on(18, '10:00'), 'still_now', 'call', 'the_day'],
        [thursday, 'mark', 'win_back', 'note', 'lapsed'],
      ),
    );
    expect(listOutgoing(lapsed)).toEqual([`${on(-5, '10:00')} ${message}`, `${on(18, '10:00')} ${voiceCall}`]);
    expect(lapsed.performed.at(-1)!.request.set).toEqual({ 'custom_fields.win_back_outcome': 'won_back_by_call' });
    expect(lapsed.outcome).toBe('lapsed');
  });

  test('a date that comes late has its text at once, in the morning if it is night, and no call that is late, too', async () => {
    const evening = on(-1, '21:00');
    const late = await run(evening, { ...renewsOn(dateOf(on(20, '10:00'))), world: { child } });
    expect(late.steps).toContain(`${evening} month_before`);
    expect(listOutgoing(late)).toEqual([`${on(1, '09:00')} ${message}`, `${on(13, '10:00')} ${voiceCall}`]);
    const tooLate = await run(on(1, '12:00'), { ...renewsOn(dateOf(on(4, '10:00'))), world: {} });
    expect(listOutgoing(tooLate)).toEqual([`${on(1, '12:00')} ${message}`]);
    expect(tooLate).toMatchObject({ state: 'completed', outcome: 'skipped' });
    expect(tooLate.outputOf('week_before')).toMatchObject({ past_due: 'skip' });
  });

  test('renewed or cancelled, it ends; a date that was changed meanwhile is not spoken of', async () => {
    const set = on(-10, '16:00');
    for (const type of ['contract_renewed', 'contract_cancelled']) {
      const events = [eventAt(on(0, '12:00'), set, type)];
      const ended = await run(set, { ...renewsOn(dateOf(thursday)), events, world: {} });
      expect(ended.outcome).toBe('exited');
      expect(listOutgoing(ended)).toEqual([`${on(-5, '10:00')} ${message}`]);
    }
    const moved = (now: number) => ({
      ...gallery['renewal-notice'].example.contact,
      custom_fields: { timezone: zone, renews_on: dateOf(now < Date.parse(on(0, '12:00')) ? thursday : on(90, '10:00')) },
    });
    const { journey } = gallery['renewal-notice'];
    const changed = await simulateJourney({ journey, at: set, zone, contact: moved, world: {} });
    expect(listOutgoing(changed)).toEqual([`${on(-5, '10:00')} ${message}`]);
    expect(changed).toMatchObject({ outcome: 'left_alone' });
    expect(changed.steps.at(-1)).toBe(`${on(18, '10:00')} left_alone`);
  });

  test('a win-back that is refused or fails leaves the contract lapsed all the same', async () => {
    const set = on(1, '12:00');
    const refused = { refuses: { run_workflow: conflict('Workflow 3 was not started: Entry key "42" entered before') } };
    for (const world of [refused, { child: { ...child, state: 'failed' as const, outcome: null } }]) {
      const lapsed = await run(set, { ...renewsOn(dateOf(thursday)), world });
      expect(lapsed).toMatchObject({ state: 'completed', outcome: 'lapsed' });
      expect(lapsed.steps.at(-2)).toBe(`${thursday} win_back${'refuses' in world ? ' failed' : ''}`);
    }
  });
});
