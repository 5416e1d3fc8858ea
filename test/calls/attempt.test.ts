import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CarrierEvent, type MachineEvent, statusEvent, type StatusEvent } from '../../src/providers/telephony/carrier-events.ts';
import { afterMachine, afterStatus, afterVerdictTimeout } from '../../src/calls/attempt/after-event.ts';
import { afterListing, afterLookUp } from '../../src/calls/attempt/after-look-up.ts';
import { afterPlacing } from '../../src/calls/attempt/after-placing.ts';
import { type Attempt, holdsSlot, submitAttempt } from '../../src/calls/attempt/attempt.ts';

const now = 1_700_000_000_000;
const patience = {
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
  hasTalk: false,
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
const submitting = submitAttempt(queued, now, patience);

const status = (name: StatusEvent['status'], more: Partial<StatusEvent> = {}): StatusEvent =>
  ({ ...statusEvent({ callId: 'CA1', status: name, at: now + 1 }), ...more }) as StatusEvent;
const machine = (answeredBy: 'person' | 'machine'): MachineEvent => ({ kind: 'machine', callId: 'CA1', answeredBy, at: now + 2 });

const hear = (attempt: Attempt, event: CarrierEvent): Attempt =>
  event.kind === 'machine' ? afterMachine(attempt, event, now, patience) : afterStatus(attempt, event as StatusEvent, now, patience);
const hearAll = (attempt: Attempt, events: CarrierEvent[]): Attempt => events.reduce(hear, attempt);
/** As the object does when the agent is put on the line. */
const talking = (attempt: Attempt): Attempt => ({ ...attempt, hasTalk: true });

describe('the line of an attempt', () => {
  it('ends as the carrier says, whatever the order and however often it is told', () => {
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
          const end = hearAll(submitting, order);
          expect(end).toMatchObject({ state: 'ended', outcome, callId: 'CA1' });
          expect(holdsSlot(end)).toBe(false);
        }),
      );
    }
  });

  it('never goes back, and never ends twice', () => {
    const events = fc.constantFrom<CarrierEvent>(
      ...(['queued', 'initiated', 'ringing', 'answered', 'completed', 'busy', 'no_answer', 'failed'] as const).map((name) => status(name)),
      machine('machine'),
      machine('person'),
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 12 }), (order) => {
        let attempt = talking(submitting);
        for (const event of order) {
          const next = hear(attempt, event);
          if (attempt.state === 'ended') expect(next).toEqual(attempt);
          attempt = next;
        }
      }),
    );
  });

  it('is completed only when the agent was on it', () => {
    const answered = hearAll(submitting, [status('initiated'), status('answered', { answeredBy: 'person' })]);
    expect(hear(talking(answered), status('completed'))).toMatchObject({ outcome: 'completed', detail: null });
    expect(hear(answered, status('completed'))).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('before the agent') });
  });

  it('waits for the verdict of machine detection, and then takes a person for granted', () => {
    const ended = hearAll(talking(submitting), [status('answered'), status('completed')]);
    expect(ended).toMatchObject({ state: 'placed', checkAt: now + patience.machineVerdictTimeoutMs });
    expect(afterVerdictTimeout(ended)).toMatchObject({ state: 'ended', outcome: 'completed', endedAt: now + 1 });
    expect(hear(ended, machine('person'))).toMatchObject({ state: 'ended', outcome: 'completed' });
    const undetected = { ...talking(submitting), awaitsVerdict: false };
    expect(hear(undetected, status('completed'))).toMatchObject({ state: 'ended', outcome: 'completed' });
  });

  it('that failed says so in the words of the carrier', () => {
    const failed = (more: object) => hear(submitting, status('failed', more));
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

  it('belongs to the first call that was heard of', () => {
    const adopted = hear(submitting, status('initiated'));
    expect(hear(adopted, status('busy', { callId: 'CA2' }))).toEqual(adopted);
    expect(afterPlacing(adopted, { placed: { callId: 'CA2', status: 'queued' } }, now, patience)).toEqual(adopted);
  });
});

describe('the answer to the request that places a call', () => {
  it('may come after the carrier has told of the call, or of its end', () => {
    const heard = hear(submitting, status('ringing'));
    expect(afterPlacing(heard, { placed: { callId: 'CA1', status: 'queued' } }, now, patience).status).toBe('ringing');
    expect(afterPlacing(heard, { unknown: 'the answer was lost' }, now, patience)).toEqual(heard);
    const over = hear(submitting, status('busy'));
    expect(afterPlacing(over, { placed: { callId: 'CA1', status: 'queued' } }, now, patience)).toEqual(over);
  });

  it('ends the attempt when the carrier refuses', () => {
    const refused = (kind: 'number' | 'blocked' | 'caller_id' | 'account') =>
      afterPlacing(submitting, { refused: { kind, code: '21211', message: 'No', retryable: false } }, now, patience);
    expect(refused('number')).toMatchObject({ state: 'ended', outcome: 'number_refused', detail: 'No (21211)' });
    expect(refused('account')).toMatchObject({ state: 'ended', outcome: 'account_refused' });
    const busy = afterPlacing(submitting, { busy: { retryAfterSeconds: 7 } }, now, patience);
    expect(busy).toMatchObject({ state: 'ended', outcome: 'rate_limited', retryAfterSeconds: 7 });
  });

  it('that is lost leaves the attempt in doubt, and holding its slot', () => {
    const unknown = afterPlacing(submitting, { unknown: 'connection reset' }, now, patience);
    expect(unknown).toMatchObject({ state: 'submitting', detail: 'submission_unknown: connection reset' });
    expect(holdsSlot(unknown)).toBe(true);
  });
});

describe('an attempt in doubt', () => {
  const call = (callId: string) => ({ callId, status: 'ringing' as const, rank: 2, isTerminal: false });
  const list = (attempt: Attempt, ids: string[], foreign: string[] = []) =>
    afterListing(attempt, { calls: ids.map(call), isComplete: true }, new Set(foreign), now, patience);

  it('is the one call that the carrier has and nobody else is', () => {
    expect(list(submitting, ['CA7'])).toMatchObject({ state: 'placed', callId: 'CA7', status: 'ringing' });
    expect(list(submitting, ['CA7', 'CA8'], ['CA8'])).toMatchObject({ state: 'placed', callId: 'CA7' });
  });

  it('is in no doubt any more once it is found', () => {
    const lost = afterPlacing(submitting, { unknown: 'connection reset' }, now, patience);
    expect(list(lost, ['CA7']).detail).toBeNull();
  });

  it('was not placed when three looks find none', () => {
    const first = list(submitting, []);
    expect(first).toMatchObject({ state: 'submitting', failedLookUps: 1, checkAt: now + patience.lookUpIntervalMs });
    expect(list(list(first, []), ['CA8'], ['CA8'])).toMatchObject({ state: 'ended', outcome: 'carrier_trouble' });
  });

  it('is never dialled again when the carrier cannot say whether there was a call', () => {
    const look = (attempt: Attempt) => afterListing(attempt, { calls: [], isComplete: false }, new Set(), now, patience);
    expect(look(look(look(submitting)))).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      detail: expect.stringContaining('submission_unknown'),
    });
  });

  it('is never dialled again when several calls may be it', () => {
    expect(list(submitting, ['CA7', 'CA8'])).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      detail: expect.stringContaining('submission_unknown'),
    });
  });

  it('keeps its slot as long as the carrier cannot be asked', () => {
    const asked = afterListing(submitting, { failure: 'timeout' }, new Set(), now, patience);
    expect(asked).toMatchObject({ state: 'submitting', failedLookUps: 0 });
    const late = afterListing(submitting, { failure: 'timeout' }, new Set(), now + 7 * 3_600_000, patience);
    expect(late).toMatchObject({ state: 'ended', outcome: 'failed' });
  });
});

describe('a call that has gone silent', () => {
  const placed = hear(submitting, status('ringing'));

  it('goes on by what the carrier says when it is asked', () => {
    const live = { callId: 'CA1', status: 'ringing' as const, rank: 2, isTerminal: false };
    expect(afterLookUp(placed, { call: live }, now, patience)).toMatchObject({ state: 'placed', checkAt: now + patience.carrierSilenceMs });
    const busy = { callId: 'CA1', status: 'busy' as const, rank: 4, isTerminal: true };
    expect(afterLookUp(placed, { call: busy }, now, patience)).toMatchObject({ state: 'ended', outcome: 'busy' });
  });

  it('is given up only when the carrier knows nothing of it, three times', () => {
    let attempt = placed;
    for (let look = 0; look < 2; look++) attempt = afterLookUp(attempt, { missing: true }, now, patience);
    expect(attempt.state).toBe('placed');
    expect(afterLookUp(attempt, { missing: true }, now, patience)).toMatchObject({ state: 'ended', outcome: 'failed' });
    expect(afterLookUp(placed, { failure: 'away' }, now, patience).state).toBe('placed');
  });
});
