import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CarrierEvent, type MachineEvent, statusEvent, type StatusEvent } from '../../src/providers/telephony/carrier-events.ts';
import { afterMachine, afterStatus, afterVerdictTimeout } from '../../src/calls/attempt/after-event.ts';
import { afterListing, afterLookUp } from '../../src/calls/attempt/after-look-up.ts';
import { afterPlacing } from '../../src/calls/attempt/after-placing.ts';
import { type Attempt, holdsSlot, submitAttempt } from '../../src/calls/attempt/attempt.ts';

const now = 1_700_000_000_000;
const timeouts = {
  carrierSilenceMs: 60_000,
  placingTimeoutMs: 20_000,
  unknownGraceMs: 30_000,
  lookUpIntervalMs: 45_000,
  machineVerdictTimeoutMs: 10_000,
  resendMs: 10_000,
};

const queued: Attempt = {
  key: 'campaign:1:1:1',
  state: 'granted',
  runId: 1,
  configId: 1,
  ownNumber: '+15005550006',
  phone: '+12125550100',
  notAfter: null,
  callId: null,
  status: null,
  answeredBy: null,
  awaitsVerdict: true,
  isAgentConnected: false,
  submission: 0,
  requeues: 0,
  hasRow: false,
  submittedAt: null,
  answeredAt: null,
  endedAt: null,
  durationSeconds: null,
  sipCode: null,
  failedLookUps: 0,
  checkAt: null,
  outcome: null,
  returned: null,
  returnedUntil: null,
  detail: null,
  retryAfterSeconds: null,
  callbacks: [],
};
const submitting = submitAttempt(queued, now, timeouts);

const status = (name: StatusEvent['status'], more: Partial<StatusEvent> = {}): StatusEvent =>
  ({ ...statusEvent({ callId: 'CA1', status: name, at: now + 1 }), ...more }) as StatusEvent;
const machine = (answeredBy: 'person' | 'machine'): MachineEvent => ({ kind: 'machine', callId: 'CA1', answeredBy, at: now + 2 });

const applyEvent = (attempt: Attempt, event: CarrierEvent): Attempt =>
  event.kind === 'machine' ? afterMachine(attempt, event, now, timeouts) : afterStatus(attempt, event as StatusEvent, now, timeouts);
const applyEvents = (attempt: Attempt, events: CarrierEvent[]): Attempt => events.reduce(applyEvent, attempt);
/** The attempt after the agent was connected, as the object stores it. */
const talking = (attempt: Attempt): Attempt => ({ ...attempt, isAgentConnected: true });

describe('the line of an attempt', () => {
  it('ends as the carrier reports, in any order of reports and with any repetitions', () => {
    const ends: [CarrierEvent[], string][] = [
      [[status('initiated'), status('ringing'), status('busy', { sipCode: 486 })], 'busy'],
      [[status('initiated'), status('no_answer')], 'no_answer'],
      [[status('initiated'), status('failed', { sipCode: 404 })], 'number_refused'],
      [[status('initiated'), status('failed', { sipCode: 503 })], 'carrier_trouble'],
      [[status('initiated'), status('cancelled')], 'cancelled'],
      [[status('initiated'), status('answered', { answeredBy: 'machine' }), status('completed')], 'voicemail'],
      [[status('initiated'), status('answered'), status('completed'), machine('machine')], 'voicemail'],
    ];
    for (const [events, outcome] of ends) {
      const shuffled = fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 });
      fc.assert(
        fc.property(shuffled, (order) => {
          const end = applyEvents(submitting, order);
          expect(end).toMatchObject({ state: 'ended', outcome, callId: 'CA1' });
          expect(holdsSlot(end)).toBe(false);
        }),
      );
    }
  });

  it('never moves back, and never ends twice', () => {
    const events = fc.constantFrom<CarrierEvent>(
      ...(['queued', 'initiated', 'ringing', 'answered', 'completed', 'busy', 'no_answer', 'failed'] as const).map((name) => status(name)),
      machine('machine'),
      machine('person'),
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 12 }), (order) => {
        let attempt = talking(submitting);
        for (const event of order) {
          const next = applyEvent(attempt, event);
          if (attempt.state === 'ended') expect(next).toEqual(attempt);
          attempt = next;
        }
      }),
    );
  });

  it('is completed only if the agent was connected', () => {
    const answered = applyEvents(submitting, [status('initiated'), status('answered', { answeredBy: 'person' })]);
    expect(applyEvent(talking(answered), status('completed'))).toMatchObject({ outcome: 'completed', detail: null });
    expect(applyEvent(answered, status('completed'))).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('before the agent'),
    });
  });

  it('waits for the verdict of machine detection, and without one assumes a person', () => {
    const ended = applyEvents(talking(submitting), [status('answered'), status('completed')]);
    expect(ended).toMatchObject({ state: 'placed', checkAt: now + timeouts.machineVerdictTimeoutMs });
    expect(afterVerdictTimeout(ended)).toMatchObject({ state: 'ended', outcome: 'completed', endedAt: now + 1 });
    expect(applyEvent(ended, machine('person'))).toMatchObject({ state: 'ended', outcome: 'completed' });
    const undetected = { ...talking(submitting), awaitsVerdict: false };
    expect(applyEvent(undetected, status('completed'))).toMatchObject({ state: 'ended', outcome: 'completed' });
  });

  it('that failed gives the reason in the words of the carrier', () => {
    const failed = (more: object) => applyEvent(submitting, status('failed', more));
    expect(failed({ sipCode: 403, fault: { words: 'hangup cause call_rejected' } })).toMatchObject({
      detail: 'the carrier could not complete the call (SIP 403, hangup cause call_rejected)',
      callbacks: [{ status: 'failed', details: { error: 'hangup cause call_rejected' } }],
    });
    expect(failed({ fault: { code: '13227', words: 'Geo permission' } })).toMatchObject({
      detail: 'the carrier could not complete the call (error 13227: Geo permission)',
    });
    expect(failed({ sipCode: 503 })).toMatchObject({ detail: 'the carrier could not complete the call (SIP 503)' });
    expect(failed({})).toMatchObject({ detail: null });
  });

  it('belongs to the call that is reported first', () => {
    const adopted = applyEvent(submitting, status('initiated'));
    expect(applyEvent(adopted, status('busy', { callId: 'CA2' }))).toEqual(adopted);
    expect(afterPlacing(adopted, { placed: { callId: 'CA2', status: 'queued' } }, now, timeouts)).toEqual(adopted);
  });
});

describe('the answer to the request that places a call', () => {
  it('may come after callbacks of the call, or of its end', () => {
    const ringing = applyEvent(submitting, status('ringing'));
    expect(afterPlacing(ringing, { placed: { callId: 'CA1', status: 'queued' } }, now, timeouts).status).toBe('ringing');
    expect(afterPlacing(ringing, { unknown: 'the answer was lost' }, now, timeouts)).toEqual(ringing);
    const over = applyEvent(submitting, status('busy'));
    expect(afterPlacing(over, { placed: { callId: 'CA1', status: 'queued' } }, now, timeouts)).toEqual(over);
  });

  it('ends the attempt when the carrier refuses', () => {
    const refused = (kind: 'number' | 'blocked' | 'caller_id' | 'account') =>
      afterPlacing(submitting, { refused: { kind, code: '21211', message: 'No', retryable: false } }, now, timeouts);
    expect(refused('number')).toMatchObject({ state: 'ended', outcome: 'number_refused', detail: 'No (21211)' });
    expect(refused('account')).toMatchObject({ state: 'ended', outcome: 'account_refused' });
    const busy = afterPlacing(submitting, { busy: { retryAfterSeconds: 7 } }, now, timeouts);
    expect(busy).toMatchObject({ state: 'ended', outcome: 'rate_limited', retryAfterSeconds: 7 });
  });

  it('that is lost leaves the attempt in doubt, with its slot', () => {
    const unknown = afterPlacing(submitting, { unknown: 'connection reset' }, now, timeouts);
    expect(unknown).toMatchObject({ state: 'submitting', detail: 'submission_unknown: connection reset' });
    expect(holdsSlot(unknown)).toBe(true);
  });
});

describe('an attempt in doubt', () => {
  const call = (callId: string) => ({ callId, status: 'ringing' as const, rank: 2, isTerminal: false });
  const list = (attempt: Attempt, ids: string[], foreign: string[] = []) =>
    afterListing(attempt, { calls: ids.map(call), isComplete: true }, new Set(foreign), now, timeouts);

  it('gets the one call of the carrier that belongs to no other attempt', () => {
    expect(list(submitting, ['CA7'])).toMatchObject({ state: 'placed', callId: 'CA7', status: 'ringing' });
    expect(list(submitting, ['CA7', 'CA8'], ['CA8'])).toMatchObject({ state: 'placed', callId: 'CA7' });
  });

  it('is no longer in doubt once its call is found', () => {
    const lost = afterPlacing(submitting, { unknown: 'connection reset' }, now, timeouts);
    expect(list(lost, ['CA7']).detail).toBeNull();
  });

  it('was not placed if three look-ups find no call', () => {
    const first = list(submitting, []);
    expect(first).toMatchObject({ state: 'submitting', failedLookUps: 1, checkAt: now + timeouts.lookUpIntervalMs });
    expect(list(list(first, []), ['CA8'], ['CA8'])).toMatchObject({ state: 'ended', outcome: 'carrier_trouble' });
  });

  it('is never dialled again when the carrier cannot say whether there was a call', () => {
    const look = (attempt: Attempt) => afterListing(attempt, { calls: [], isComplete: false }, new Set(), now, timeouts);
    expect(look(look(look(submitting)))).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      detail: expect.stringContaining('submission_unknown'),
    });
  });

  it('is never dialled again when several calls may be its own', () => {
    expect(list(submitting, ['CA7', 'CA8'])).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      detail: expect.stringContaining('submission_unknown'),
    });
  });

  it('keeps its slot as long as the carrier cannot be asked', () => {
    const asked = afterListing(submitting, { failure: 'timeout' }, new Set(), now, timeouts);
    expect(asked).toMatchObject({ state: 'submitting', failedLookUps: 0 });
    const late = afterListing(submitting, { failure: 'timeout' }, new Set(), now + 7 * 3_600_000, timeouts);
    expect(late).toMatchObject({ state: 'ended', outcome: 'failed' });
  });
});

describe('a call that has gone silent', () => {
  const placed = applyEvent(submitting, status('ringing'));

  it('goes on by the answer of the carrier to a look-up', () => {
    const live = { callId: 'CA1', status: 'ringing' as const, rank: 2, isTerminal: false };
    expect(afterLookUp(placed, { call: live }, now, timeouts)).toMatchObject({ state: 'placed', checkAt: now + timeouts.carrierSilenceMs });
    const busy = { callId: 'CA1', status: 'busy' as const, rank: 4, isTerminal: true };
    expect(afterLookUp(placed, { call: busy }, now, timeouts)).toMatchObject({ state: 'ended', outcome: 'busy' });
  });

  it('is given up only after three look-ups in which the carrier does not know it', () => {
    let attempt = placed;
    for (let look = 0; look < 2; look++) attempt = afterLookUp(attempt, { missing: true }, now, timeouts);
    expect(attempt.state).toBe('placed');
    expect(afterLookUp(attempt, { missing: true }, now, timeouts)).toMatchObject({ state: 'ended', outcome: 'failed' });
    expect(afterLookUp(placed, { failure: 'away' }, now, timeouts).state).toBe('placed');
  });
});
