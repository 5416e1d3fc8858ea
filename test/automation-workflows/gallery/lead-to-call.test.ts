import { describe, expect, test } from 'vitest';
import {
  journeyAroundClockChange,
  changes,
  chatMessage,
  eventAt,
  listOutgoing,
  toStepLines,
  voiceCall,
} from '../../support/clock-change-runs.ts';
import type { SimulatedWorld } from '../../support/simulated-runs.ts';

/** Answers the calls of a run one after the other, the last as often as needed. */
function calling(...results: ReturnType<NonNullable<SimulatedWorld['call']>>[]): SimulatedWorld {
  let called = 0;
  return { call: () => results[Math.min(called++, results.length - 1)]! };
}
const nobody = () => calling({ outcome: 'no_answer' });

describe.each(changes)('lead to call around the change of the clocks of $zone on $sunday', (change) => {
  const { on, run } = journeyAroundClockChange(change, 'lead-to-call');

  test('in office hours the call goes out after two minutes', async () => {
    const tuesday = on(2, '11:00');
    const lead = await run(tuesday);
    expect(lead.steps.slice(0, 7)).toEqual(
      toStepLines([tuesday, 'start', 'reachable', 'clock', 'open', 'moment'], [on(2, '11:02'), 'attempt', 'call']),
    );
  });

  test.each([
    ['a lead of Friday evening', -2, '18:00', ['has_email', 'say_when', 'opening'], 'attempt'],
    ['a lead of Saturday', -1, '11:00', ['has_email', 'say_when', 'opening'], 'attempt'],
    ['a lead of the minute before the office closes', -2, '16:59', ['moment'], 'call'],
  ])('%s is called on Monday at nine', async (_when, days, time, first, then) => {
    const came = on(days, time);
    const lead = await run(came, { world: {} });
    expect(lead.steps.slice(0, 4 + first.length)).toEqual(toStepLines([came, 'start', 'reachable', 'clock', 'open', ...first]));
    expect(lead.steps.find((step) => step.startsWith(on(1, '09:00')))).toBe(`${on(1, '09:00')} ${then}`);
    expect(listOutgoing(lead).find((request) => request.endsWith(voiceCall))).toBe(`${on(1, '09:00')} ${voiceCall}`);
  });

  test('three attempts two hours apart, then a colleague; an attempt after five waits for the next opening', async () => {
    const wednesday = on(3, '13:00');
    const lead = await run(wednesday, { world: nobody() });
    expect(listOutgoing(lead)).toEqual([
      `${on(3, '13:02')} ${voiceCall}`,
      `${on(3, '15:02')} ${voiceCall}`,
      `${on(4, '09:00')} ${voiceCall}`,
      `${on(4, '09:00')} ${chatMessage}`,
    ]);
    expect(lead.outcome).toBe('handed_over');
    expect(lead.performed.at(-1)!.request.text).toMatch(/\nCalls: 3, the last one: no_answer$/);
  });

  test('who answers the second call is not called a third time, and the day of the visit is kept', async () => {
    const world = calling({ outcome: 'busy' }, { disposition: 'interested', extracted_variables: { visit_day: 'Thursday' } });
    const lead = await run(on(2, '11:00'), { world });
    expect(listOutgoing(lead)).toEqual([`${on(2, '11:02')} ${voiceCall}`, `${on(2, '13:02')} ${voiceCall}`]);
    expect(lead.outcome).toBe('contacted');
    expect(lead.performed.slice(-2)).toMatchObject([
      { effect: 'update_contact', request: { set: { 'custom_fields.lead_status': 'contacted', 'custom_fields.visit_day': 'Thursday' } } },
      { effect: 'list_membership', request: { add: ['Contacted leads'], remove: ['Leads'] } },
    ]);
  });

  test.each([
    ['a wrong number', { disposition: 'wrong_number' }],
    ['a number that must not be called', { outcome: 'failed' as const, reason: 'suppressed: asked not to be called' }],
  ])('%s goes to a colleague after one call', async (_what, result) => {
    const lead = await run(on(2, '11:00'), { world: calling(result) });
    expect(listOutgoing(lead)).toEqual([`${on(2, '11:02')} ${voiceCall}`, `${on(2, '11:02')} ${chatMessage}`]);
    expect(lead.outcome).toBe('handed_over');
  });

  test('a call that is still queued when the office closes waits for the next opening', async () => {
    const closed = Date.parse(on(2, '17:00'));
    const lead = await run(on(2, '16:50'), { world: calling({ returned: 'window_closed', returned_until: closed }, {}) });
    expect(listOutgoing(lead)).toEqual([`${on(2, '16:52')} ${voiceCall}`, `${on(3, '09:00')} ${voiceCall}`]);
    expect(lead.outcome).toBe('contacted');
  });

  test('a meeting that is booked over the weekend ends it', async () => {
    const saturday = on(-1, '11:00');
    const events = [eventAt(on(0, '20:00'), saturday, 'meeting_booked')];
    const lead = await run(saturday, { events, world: {} });
    expect(lead.outcome).toBe('exited');
    expect(listOutgoing(lead)).toEqual([`${saturday} POST https://api.example.com/emails`]);
  });

  test.each([
    ['who has no phone', { phone: null }],
    ['who does not want to be called', { tags: ['do-not-contact'] }],
  ])('%s goes to a colleague at once', async (_who, contact) => {
    const sunday = on(0, '11:00');
    const lead = await run(sunday, { contact, world: {} });
    expect(listOutgoing(lead)).toEqual([`${sunday} ${chatMessage}`]);
    expect(lead.outcome).toBe('handed_over');
  });
});
