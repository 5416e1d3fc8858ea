import { describe, expect, test } from 'vitest';
import { aroundChange, calls, changes, eventAt, requestsOf, tasks, visits } from '../../support/around-change.ts';

describe.each(changes)('lead to call around the change of the clocks of $zone on $sunday', (change) => {
  const { on, run } = aroundChange(change, 'lead-to-call');

  test('in office hours the call goes out after two minutes', async () => {
    const tuesday = on(2, '11:00');
    const lead = await run(tuesday);
    expect(lead.steps.slice(0, 8)).toEqual(
      visits([tuesday, 'start', 'reachable', 'clock', 'open', 'moment'], [on(2, '11:02'), 'attempt', 'call', 'call_result']),
    );
  });

  test.each([
    ['a lead of Friday evening', -2, '18:00', ['has_email', 'say_when', 'opening'], 'attempt'],
    ['a lead of Saturday', -1, '11:00', ['has_email', 'say_when', 'opening'], 'attempt'],
    ['a lead of the minute before the office closes', -2, '16:59', ['moment'], 'call'],
  ])('%s is called on Monday at nine', async (_when, days, time, first, then) => {
    const came = on(days, time);
    const lead = await run(came, { world: {} });
    expect(lead.steps.slice(0, 4 + first.length)).toEqual(visits([came, 'start', 'reachable', 'clock', 'open', ...first]));
    expect(lead.steps.find((step) => step.startsWith(on(1, '09:00')))).toBe(`${on(1, '09:00')} ${then}`);
    expect(requestsOf(lead).find((request) => request.endsWith('/calls'))).toBe(`${on(1, '09:00')} ${calls}`);
  });

  test('three attempts two hours apart, then a colleague; an attempt after five waits for the next opening', async () => {
    const wednesday = on(3, '13:00');
    const lead = await run(wednesday, { world: {} });
    expect(requestsOf(lead)).toEqual([
      `${on(3, '13:02')} ${calls}`,
      `${on(3, '15:32')} ${calls}`,
      `${on(4, '09:00')} ${calls}`,
      `${on(4, '09:30')} ${tasks}`,
    ]);
    expect(new Set(lead.performed.map(({ request }) => request.key)).size).toBe(4);
    expect(lead.outcome).toBe('handed_over');
  });

  test('who answers the second call is not called a third time; a late word of the first call is not taken for the second', async () => {
    const tuesday = on(2, '11:00');
    const ended = (attempt: number, result: string, to: string) =>
      eventAt(to, tuesday, 'call_ended', { reference: `lead-f-2041-${attempt}`, result });
    const events = [ended(1, 'no_answer', on(2, '11:03')), ended(1, 'wrong_number', on(2, '13:04')), ended(2, 'answered', on(2, '13:05'))];
    const lead = await run(tuesday, { events, world: {} });
    expect(requestsOf(lead)).toEqual([`${on(2, '11:02')} ${calls}`, `${on(2, '13:03')} ${calls}`]);
    expect(lead.outcome).toBe('contacted');
    expect(lead.performed.at(-1)).toMatchObject({ effect: 'list_membership', request: { add: ['Contacted leads'], remove: ['Leads'] } });
  });

  test('a meeting that is booked over the weekend ends it', async () => {
    const saturday = on(-1, '11:00');
    const events = [eventAt(on(0, '20:00'), saturday, 'meeting_booked')];
    const lead = await run(saturday, { events, world: {} });
    expect(lead.outcome).toBe('exited');
    expect(requestsOf(lead)).toEqual([`${saturday} POST https://api.example.com/emails`]);
  });

  test.each([
    ['who has no phone', { phone: null }],
    ['who does not want to be called', { tags: ['do-not-contact'] }],
  ])('%s goes to a colleague at once', async (_who, contact) => {
    const sunday = on(0, '11:00');
    const lead = await run(sunday, { contact, world: {} });
    expect(requestsOf(lead)).toEqual([`${sunday} ${tasks}`]);
    expect(lead.outcome).toBe('handed_over');
  });
});
