import { describe, expect, test } from 'vitest';
import {
  journeyAroundClockChange,
  changes,
  day,
  eventAt,
  hour,
  message,
  listOutgoing,
  toStepLines,
  voiceCall,
} from '../../support/clock-change-runs.ts';
import { conflict } from '../../../src/library/errors.ts';
import type { SimulatedWorld } from '../../support/simulated-runs.ts';

describe.each(changes)('appointment reminder around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, run } = journeyAroundClockChange(change, 'appointment-reminder');

  const appointment = (starts_at: string) => ({ appointment_id: 'apt-88', starts_at, service: 'Eye test' });

  test('an appointment of the Sunday is announced exactly 24 and two hours before, whatever the clocks do between', async () => {
    const thursday = on(-3, '12:00');
    const starts = on(0, '16:00');
    const reminded = await run(thursday, { context: appointment(starts) });
    const dayBefore = exactly(starts, -day);
    const hoursBefore = exactly(starts, -2 * hour);
    const again = ['upcoming', 'plan', 'until_next'];
    expect(reminded.steps).toEqual(
      toStepLines(
        [thursday, 'start', 'reachable', ...again],
        [dayBefore, 'which', 'text', ...again],
        [hoursBefore, 'which', 'call', ...again],
        [starts, 'which', 'reminded'],
      ),
    );
    expect(Date.parse(starts) - Date.parse(dayBefore)).toBe(24 * hour);
    expect(reminded.outcome).toBe('reminded');
  });

  test('moved, it reminds of the new time alone; moved again after a reminder, it reminds anew', async () => {
    const thursday = on(-3, '12:00');
    const [first, second, third] = [on(-1, '16:00'), on(1, '16:00'), on(4, '11:00')];
    const moves = [
      eventAt(on(-2, '11:00'), thursday, 'appointment_rescheduled', appointment(second)),
      eventAt(on(-2, '11:30'), thursday, 'appointment_rescheduled', { ...appointment(third), appointment_id: 'apt-9' }),
      eventAt(on(1, '10:00'), thursday, 'appointment_rescheduled', appointment(third)),
    ];
    const moved = await run(thursday, { context: appointment(first), events: moves, world: {} });
    expect(listOutgoing(moved)).toEqual([
      `${exactly(second, -day)} ${message}`,
      `${exactly(third, -day)} ${message}`,
      `${exactly(third, -2 * hour)} ${voiceCall}`,
    ]);
    expect(moved.performed.at(-1)!.request.initial_context.starts_at).toBe(third);
    expect(moved.steps.at(-1)).toBe(`${third} reminded`);
  });

  test('cancelled, it ends at once, and the cancellation of another does nothing', async () => {
    const thursday = on(-3, '12:00');
    const context = appointment(on(1, '16:00'));
    const events = [
      eventAt(on(-2, '09:00'), thursday, 'appointment_cancelled', { appointment_id: 'apt-9' }),
      eventAt(on(-1, '09:00'), thursday, 'appointment_cancelled', { appointment_id: 'apt-88' }),
    ];
    const cancelled = await run(thursday, { context, events, world: {} });
    expect(cancelled).toMatchObject({ outcome: 'exited', performed: [] });
    expect(cancelled.steps.at(-1)).toBe(`${thursday} until_next skipped`);
  });

  test('a reminder that falls into the night is left out, the others are not', async () => {
    const early = on(2, '08:30');
    const reminded = await run(on(-1, '12:00'), { context: appointment(early), world: {} });
    expect(listOutgoing(reminded)).toEqual([`${on(1, '08:30')} ${message}`]);
    expect(reminded.steps).toContain(`${on(2, '06:30')} call skipped`);
    expect(reminded.outcome).toBe('reminded');
  });

  test('booked late, it does what is left to do; in the past or at no time at all, nothing', async () => {
    const noon = on(1, '12:00');
    const booked = async (starts: string) => run(noon, { context: appointment(starts), world: {} });
    expect(listOutgoing(await booked(on(2, '11:00')))).toEqual([`${on(2, '09:00')} ${voiceCall}`]);
    expect(listOutgoing(await booked(on(1, '13:00')))).toEqual([]);
    expect((await booked(on(1, '13:00'))).steps.at(-1)).toBe(`${on(1, '13:00')} reminded`);
    for (const starts of [on(1, '11:59'), noon, 'next Tuesday'])
      expect(await booked(starts)).toMatchObject({ outcome: 'not_upcoming', performed: [] });
  });

  test('who is not reached is sent a text, at the latest half an hour later, and no failure keeps the later reminder away', async () => {
    const context = appointment(on(3, '16:00'));
    const reminders = async (world: SimulatedWorld) => {
      const { outcome, ...reminded } = await run(on(1, '12:00'), { context, world });
      expect(outcome).toBe('reminded');
      return listOutgoing({ outcome, ...reminded });
    };
    const called = [`${on(2, '16:00')} ${message}`, `${on(3, '14:00')} ${voiceCall}`];
    expect(await reminders({})).toEqual(called);
    for (const outcome of ['no_answer', 'busy', 'voicemail', 'failed'] as const)
      expect(await reminders({ call: () => ({ outcome }) })).toEqual([...called, `${on(3, '14:00')} ${message}`]);
    expect(await reminders({ call: () => null })).toEqual([...called, `${on(3, '14:30')} ${message}`]);
    const archived = await reminders({
      refuses: { voice_call: conflict('Agent 7 is archived') },
      message: () => ({ failure: { failure: 'template_missing', message: 'no such template' } }),
    });
    expect(archived).toEqual([called[0], `${on(3, '14:00')} ${message}`]);
  });

  test('without a phone nobody is reminded', async () => {
    const context = appointment(on(3, '16:00'));
    expect((await run(on(1, '12:00'), { context, contact: { phone: null } })).outcome).toBe('not_reachable');
  });
});
