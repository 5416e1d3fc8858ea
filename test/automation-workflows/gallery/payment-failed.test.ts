import { describe, expect, test } from 'vitest';
import {
  journeyAroundClockChange,
  changes,
  day,
  eventAt,
  message,
  listOutgoing,
  tasks,
  toStepLines,
  voiceCall,
} from '../../support/clock-change-runs.ts';
import type { SimulatedWorld } from '../../support/simulated-runs.ts';

describe.each(changes)('payment failed around the change of the clocks of $zone on $sunday', (change) => {
  const { exactly, on, run } = journeyAroundClockChange(change, 'payment-failed');

  const invoice = { invoice_id: 'in_5001' };
  const billing = 'GET https://api.example.com/invoices/in_5001';
  const friday = on(-2, '09:00');

  test('a text after six hours, a call after three days, people after three more, the end after a week', async () => {
    const unpaid = await run(friday, { world: {} });
    const texted = on(-2, '15:00');
    const called = exactly(texted, 3 * day);
    const handed = exactly(called, 3 * day);
    const ended = exactly(handed, 7 * day);
    expect(listOutgoing(unpaid)).toEqual([
      `${texted} ${billing}`,
      `${texted} ${message}`,
      `${called} ${billing}`,
      `${called} ${voiceCall}`,
      `${handed} ${billing}`,
      `${handed} ${tasks}`,
      `${ended} ${billing}`,
    ]);
    expect(unpaid.performed.slice(-2)).toEqual([
      { at: ended, effect: 'emit_event', request: { event_type: 'invoice_given_up', data: { invoice_id: 'in_5001', amount: 49 } } },
      { at: ended, effect: 'update_contact', request: expect.objectContaining({ set: { 'custom_fields.billing_status': 'unpaid' } }) },
    ]);
    expect(unpaid.outcome).toBe('unpaid');
  });

  test('what falls into the night or the Sunday is asked and sent on Monday at nine', async () => {
    const late = await run(on(-1, '15:00'));
    expect(late.steps.slice(4, 10)).toEqual(
      toStepLines([on(-1, '21:00'), 'ask_billing'], [on(1, '09:00'), 'ask_billing', 'is_paid', 'step', 'text', 'second']),
    );
  });

  test('who pays in the night before the call is not called: billing is asked in the morning', async () => {
    const late = on(-1, '15:00');
    const events = [eventAt(on(0, '12:00'), late, 'payment_succeeded', invoice)];
    const paid = await run(late, { events, world: { answer: () => ({ status: 200, body: { status: 'paid' } }) } });
    expect(listOutgoing(paid)).toEqual([`${on(1, '09:00')} ${billing}`]);
    expect(paid.outcome).toBe('recovered');
  });

  test('paid while it waits, it ends; people who work on it are notified, and another invoice changes nothing', async () => {
    const paying = (id: string, to: string) => ({ events: [eventAt(to, friday, 'payment_succeeded', { invoice_id: id })], world: {} });
    const soon = await run(friday, paying('in_5001', on(-2, '14:59')));
    expect(soon).toMatchObject({ outcome: 'recovered', performed: [{ effect: 'update_contact' }] });
    const late = await run(friday, paying('in_5001', on(6, '12:00')));
    expect(listOutgoing(late).slice(-2)).toEqual([expect.stringMatching(`${tasks}$`), `${on(6, '12:00')} ${tasks}`]);
    expect(late.performed.at(-1)!.request.body.title).toBe('Paid: nothing more to do');
    expect((await run(friday, paying('in_9', on(-2, '14:59')))).outcome).toBe('unpaid');
  });

  test('a voided invoice ends it wherever it stands', async () => {
    const events = [eventAt(on(0, '12:00'), friday, 'invoice_voided', invoice)];
    expect((await run(friday, { events })).outcome).toBe('exited');
  });

  test('when billing cannot be asked a person looks, once, and without a phone only people do', async () => {
    const dead: SimulatedWorld = { answer: ({ method }) => ({ status: method === 'GET' ? 503 : 200 }) };
    const unsure = await run(friday, { world: dead });
    expect(listOutgoing(unsure).filter((request) => !request.endsWith(billing))).toEqual([expect.stringMatching(`${tasks}$`)]);
    expect(unsure.outcome).toBe('left_to_people');
    const unanswered = await run(friday, { contact: { phone: null }, world: {} });
    expect(listOutgoing(unanswered).filter((request) => !request.endsWith(billing))).toEqual([`${on(-2, '15:00')} ${tasks}`]);
  });
});
