import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideContact, type Person } from '../../src/contact-policy/decide-contact.ts';
import { decideFrom } from '../../src/contact-policy/next-contact.ts';
import type { PastContact } from '../../src/contact-policy/limit-windows.ts';
import { ContactPolicyBody } from '../../src/contact-policy/policy.ts';
import { personTimeZones } from '../../src/contacts/contacts/contact-time-zone.ts';
import { randomPolicy, randomZones } from './random-plans.ts';

const hour = 3_600_000;
const at = (text: string): number => Date.parse(text);
const person = (change: Partial<Person> = {}): Person => ({ zones: ['Europe/Berlin'], dayOff: () => null, hasConsent: true, ...change });
const call = (moment: string): PastContact => ({ channel: 'call', at: at(moment) });
const message = (moment: string): PastContact => ({ channel: 'message', at: at(moment) });

const decide = (rules: object, now: string, history: PastContact[] = [], who: Person = person(), channel: 'call' | 'message' = 'call') =>
  decideContact(ContactPolicyBody.parse(rules), { channel, person: who }, history, at(now), 0);

describe('a limit', () => {
  const twoCallsADay = { limits: [{ channel: 'call', max: 2, per: 'day' }] };

  test('of a day counts from midnight where the person is', () => {
    const history = [call('2026-03-02T22:30:00Z'), call('2026-03-03T09:00:00Z')];
    expect(decide(twoCallsADay, '2026-03-03T10:00:00Z', history)).toMatchObject({ kind: 'allowed' });
    expect(decide(twoCallsADay, '2026-03-03T10:00:00Z', [...history, call('2026-03-03T09:30:00Z')])).toEqual({
      kind: 'waits',
      until: at('2026-03-03T23:00:00Z'),
      rule: 'calls_per_day',
      detail: 'at most 2 calls to a person a day',
    });
  });

  test('of calls does not count messages, and a limit of any contact counts both', () => {
    const history = [call('2026-03-03T09:00:00Z'), message('2026-03-03T09:10:00Z')];
    expect(decide(twoCallsADay, '2026-03-03T10:00:00Z', history)).toMatchObject({ kind: 'allowed' });
    expect(decide({ limits: [{ max: 2, per: 'day' }] }, '2026-03-03T10:00:00Z', history)).toMatchObject({ rule: 'contacts_per_day' });
    expect(decide(twoCallsADay, '2026-03-03T10:00:00Z', [...history, call('2026-03-03T09:20:00Z')], person(), 'message').kind).toBe(
      'allowed',
    );
  });

  test('of a week begins with its Monday', () => {
    const rules = { limits: [{ channel: 'call', max: 1, per: 'week' }] };
    expect(decide(rules, '2026-03-08T12:00:00Z', [call('2026-03-02T12:00:00Z')])).toMatchObject({ until: at('2026-03-08T23:00:00Z') });
    expect(decide(rules, '2026-03-09T12:00:00Z', [call('2026-03-08T12:00:00Z')])).toMatchObject({ kind: 'allowed' });
  });

  test('of a window that moves frees a contact exactly when the oldest leaves it', () => {
    const rules = { limits: [{ channel: 'call', max: 2, per: 'P7D' }] };
    const history = [call('2026-03-01T12:00:00Z'), call('2026-03-04T12:00:00Z')];
    expect(decide(rules, '2026-03-08T11:59:59.999Z', history)).toMatchObject({ until: at('2026-03-08T12:00:00Z'), rule: 'calls_per_P7D' });
    expect(decide(rules, '2026-03-08T12:00:00Z', history)).toMatchObject({ kind: 'allowed' });
  });

  test('holds in every zone in which the person may be', () => {
    const history = [call('2026-03-03T05:30:00Z')];
    const rules = { limits: [{ channel: 'call', max: 1, per: 'day' }] };
    const american = person({ zones: ['America/New_York', 'America/Los_Angeles'] });
    // The call was at half past midnight in New York, and on the day before in Los Angeles. That day has ended; the other has not.
    expect(decide(rules, '2026-03-03T09:00:00Z', history, american)).toMatchObject({ kind: 'waits', until: at('2026-03-04T05:00:00Z') });
  });
});

describe('a gap', () => {
  test('counts from the last contact of its kind', () => {
    const rules = { min_gaps: [{ channel: 'call', gap: 'PT4H' }] };
    expect(decide(rules, '2026-03-03T12:00:00Z', [call('2026-03-03T09:00:00Z'), message('2026-03-03T11:00:00Z')])).toMatchObject({
      until: at('2026-03-03T13:00:00Z'),
      rule: 'gap_between_calls',
    });
    expect(decide({ min_gaps: [{ gap: 'PT4H' }] }, '2026-03-03T12:00:00Z', [message('2026-03-03T11:00:00Z')])).toMatchObject({
      until: at('2026-03-03T15:00:00Z'),
      rule: 'gap_between_contacts',
    });
  });
});

const everyNight = (start: string, end: string) =>
  [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day_of_week: day, start_time: start, end_time: end }));

describe('quiet hours', () => {
  const nights = { quiet_hours: { slots: everyNight('21:00', '08:00') } };

  test('are those of every zone in which the person may be', () => {
    const who = person({ zones: ['America/New_York', 'America/Los_Angeles'] });
    expect(decide(nights, '2026-03-03T14:00:00Z', [], who)).toMatchObject({ until: at('2026-03-03T16:00:00Z'), rule: 'quiet_hours' });
    expect(decide(nights, '2026-03-03T17:00:00Z', [], who)).toEqual({ kind: 'allowed', until: at('2026-03-04T02:00:00Z') });
  });

  test('that leave no moment in all zones together allow nothing', () => {
    const days = { quiet_hours: { slots: everyNight('10:00', '00:00') } };
    const apart = person({ zones: ['Europe/London', 'Pacific/Auckland'] });
    expect(decide(days, '2026-01-03T14:00:00Z', [], apart)).toMatchObject({ kind: 'never', rule: 'quiet_hours' });
  });

  test('follow the clock when it is changed', () => {
    // The clock of Berlin goes from 02:00 to 03:00 on 29 March.
    expect(decide(nights, '2026-03-28T21:00:00Z')).toMatchObject({ until: at('2026-03-29T06:00:00Z') });
  });

  test('of calls do not hold messages back', () => {
    const ofCalls = { quiet_hours: { slots: everyNight('21:00', '08:00'), channels: ['call'] } };
    expect(decide(ofCalls, '2026-03-03T23:00:00Z', [], person(), 'message')).toEqual({ kind: 'allowed', until: null });
  });
});

describe('a day off', () => {
  const free = new Set(['2026-12-24', '2026-12-25', '2026-12-26']);
  const who = person({ dayOff: (date) => (free.has(date) ? 'Christmas' : null) });

  test('lasts from midnight to midnight where the person is, and days in a row are passed over together', () => {
    expect(decide({ days_off: {} }, '2026-12-23T23:00:00Z', [], who)).toEqual({
      kind: 'waits',
      until: at('2026-12-26T23:00:00Z'),
      rule: 'day_off',
      detail: 'Christmas in Europe/Berlin',
    });
  });

  test('ends what is allowed before', () => {
    expect(decide({ days_off: {} }, '2026-12-23T12:00:00Z', [], who)).toEqual({ kind: 'allowed', until: at('2026-12-23T23:00:00Z') });
  });
});

test('without consent a person is never contacted', () => {
  const rules = { consent: { channels: ['call'] } };
  expect(decide(rules, '2026-03-03T12:00:00Z', [], person({ hasConsent: false }))).toMatchObject({ kind: 'never', rule: 'no_consent' });
  expect(decide(rules, '2026-03-03T12:00:00Z', [], person({ hasConsent: false }), 'message')).toMatchObject({ kind: 'allowed' });
  expect(decide(rules, '2026-03-03T12:00:00Z')).toMatchObject({ kind: 'allowed' });
});

describe('the zones of a person', () => {
  const organization = { timezone: 'Europe/Paris' };
  const now = at('2026-03-03T12:00:00Z');

  test('are all that the country of the number has, each clock once', () => {
    const { zones, country } = personTimeZones('+12125550123', {}, organization, now);
    expect(country).toBe('US');
    const offsets = new Set(zones.map((zone) => new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).format(now)));
    expect(offsets.size).toBeGreaterThanOrEqual(6);
    expect(zones.length).toBeLessThan(15);
  });

  test('are the one that a custom field names', () => {
    expect(personTimeZones('+12125550123', { timezone: 'America/Denver' }, organization, now).zones).toEqual(['America/Denver']);
    expect(personTimeZones('+12125550123', { timezone: 'Nowhere' }, organization, now).zones.length).toBeGreaterThan(1);
  });

  test('are the one of the organization for a number of no country', () => {
    expect(personTimeZones('+80012345678', {}, organization, now)).toEqual({ zones: ['Europe/Paris'], country: null });
  });
});

const anyHistory = fc.array(
  fc.record({ channel: fc.constantFrom('call' as const, 'message' as const), hoursAgo: fc.integer({ min: 0, max: 30 * 24 }) }),
  { maxLength: 12 },
);

test('what waits is allowed at its moment, and at no moment before', () => {
  fc.assert(
    fc.property(
      randomPolicy,
      randomZones,
      anyHistory,
      fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-12-31T00:00:00Z') }),
      fc.constantFrom('call' as const, 'message' as const),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 20 }),
      (policy, zones, past, now, channel, shares) => {
        const who = person({ zones, dayOff: (date) => (policy.days_off?.dates.includes(date) ? 'free' : null) });
        const history = past.map((one): PastContact => ({ channel: one.channel, at: now - one.hoursAgo * hour }));
        const decideAt = (moment: number) => decideContact(policy, { channel, person: who }, history, moment, 2000);
        const decision = decideAt(now);
        if (decision.kind !== 'waits') return true;
        return (
          decideAt(decision.until).kind === 'allowed' &&
          shares.every(
            (share) => decideAt(Math.min(Math.floor(now + share * (decision.until - now)), decision.until - 1)).kind !== 'allowed',
          )
        );
      },
    ),
    { numRuns: 150 },
  );
});

describe('a rule outside of the policy that allows calls from a moment on', () => {
  const nights = {
    quiet_hours: { slots: [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day_of_week: day, start_time: '21:00', end_time: '08:00' })) },
  };
  const from = (moment: string) => ({ moment: at(moment), rule: 'min_hours_between_calls', detail: 'at least 2 hours' });
  const decideAt = (now: string, callsFrom: ReturnType<typeof from> | null, who = person()) =>
    decideFrom(callsFrom, at(now), (moment) => decide(nights, new Date(moment).toISOString(), [], who));

  test('waits for that moment, and further where the policy does not allow it', () => {
    const named = { kind: 'waits', rule: 'min_hours_between_calls', detail: 'at least 2 hours' };
    expect(decideAt('2026-03-03T12:00:00Z', from('2026-03-03T14:00:00Z'))).toEqual({ ...named, until: at('2026-03-03T14:00:00Z') });
    expect(decideAt('2026-03-03T19:00:00Z', from('2026-03-03T21:00:00Z'))).toEqual({ ...named, until: at('2026-03-04T07:00:00Z') });
  });

  test('changes nothing once the moment has come, nor where the policy waits longer or never allows it', () => {
    const allowed = decideAt('2026-03-03T12:00:00Z', null);
    expect(allowed).toMatchObject({ kind: 'allowed' });
    expect(decideAt('2026-03-03T12:00:00Z', from('2026-03-03T12:00:00Z'))).toEqual(allowed);
    expect(decideAt('2026-03-03T22:00:00Z', from('2026-03-03T23:00:00Z'))).toMatchObject({ rule: 'quiet_hours' });
    const never = decideFrom(from('2026-03-03T14:00:00Z'), at('2026-03-03T12:00:00Z'), () =>
      decide({ consent: {} }, '2026-03-03T12:00:00Z', [], person({ hasConsent: false })),
    );
    expect(never).toMatchObject({ kind: 'never', rule: 'no_consent' });
  });
});
