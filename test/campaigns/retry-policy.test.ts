import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findCallingWindow } from '../../src/campaigns/dialing/calling-windows.ts';
import { defaultConfigs } from '../../src/campaigns/configs/configs.ts';
import type { RetryConfig, ScheduleConfig } from '../../src/campaigns/configs/configs.ts';
import { isFailure, outcomeFromSipCode, refusalOutcomes, rowOutcomes } from '../../src/calls/attempt/outcomes.ts';
import type { AttemptOutcome } from '../../src/calls/attempt/outcomes.ts';
import { decideRetry } from '../../src/campaigns/dialing/retry-policy.ts';
import type { AttemptEnd, RetryRules, AttemptCounts } from '../../src/campaigns/dialing/retry-policy.ts';
import { momentsNearChanges } from '../library/clock-changes.ts';
import { anySchedule, isOpenAt, openMinutes, scheduleOf, slot } from './schedules.ts';

const minute = 60_000;
const now = Date.UTC(2026, 10, 23, 10);
const defaults = defaultConfigs({ timezone: 'UTC', plan: { concurrentCallLimit: 10 } }).retry_config;
const always: ScheduleConfig = { ...scheduleOf([]), enabled: false };
const untried: AttemptCounts = { attempts: 0, carrierTroubleCount: 0, consecutiveRateLimits: 0 };

const rules = (retry: Partial<RetryConfig> = {}, by = always, zone = 'UTC'): RetryRules => ({
  retry: { ...defaults, ...retry },
  windowAt: (moment) => findCallingWindow(by, zone, moment),
});
const after = (outcome: AttemptOutcome, tried: Partial<AttemptCounts> = {}, by = rules(), more: Partial<AttemptEnd> = {}) =>
  decideRetry({ outcome, ...more }, { ...untried, ...tried }, by, now, () => 0);

const everyOutcome: AttemptOutcome[] = [...rowOutcomes, 'carrier_trouble', 'rate_limited', ...Object.values(refusalOutcomes)];

describe('a person was not reached', () => {
  test.each(['busy', 'no_answer', 'voicemail'] as const)('%s is tried again until the attempts are used up', (outcome) => {
    expect(after(outcome)).toEqual({
      step: 'retry',
      at: now + 120_000,
      notBefore: now + 120_000,
      reason: `${outcome}: attempt 2 of 3 follows`,
      tried: { attempts: 1, carrierTroubleCount: 0, consecutiveRateLimits: 0 },
    });
    expect(after(outcome, { attempts: 1 })).toMatchObject({ step: 'retry', tried: { attempts: 2 } });
    expect(after(outcome, { attempts: 2 })).toEqual({
      step: 'end',
      state: 'failed',
      outcome,
      reason: `${outcome}: on the last of 3 attempts`,
      tried: { attempts: 3, carrierTroubleCount: 0, consecutiveRateLimits: 0 },
    });
  });

  test.each(['busy', 'no_answer', 'voicemail'] as const)('%s ends the row when the settings ask for no retry', (outcome) => {
    const end = { step: 'end', state: 'failed', outcome, tried: { attempts: 1 } };
    expect(after(outcome, {}, rules({ enabled: false }))).toMatchObject(end);
    expect(after(outcome, {}, rules({ [`retry_on_${outcome}`]: false }))).toMatchObject(end);
    expect(after(outcome, {}, rules({ max_retries: 0 }))).toMatchObject(end);
    const others = { retry_on_busy: false, retry_on_no_answer: false, retry_on_voicemail: false, [`retry_on_${outcome}`]: true };
    expect(after(outcome, {}, rules(others))).toMatchObject({ step: 'retry' });
  });

  test('each delay is backoff_factor times the one before, up to a week', () => {
    const delays = (factor: number, base = 60) =>
      [0, 1, 2, 3, 9].map((attempts) => {
        const step = after('busy', { attempts }, rules({ max_retries: 10, backoff_factor: factor, retry_delay_seconds: base }));
        return step.step === 'retry' ? (step.at - now) / 1000 : step.step;
      });
    expect(delays(1)).toEqual([60, 60, 60, 60, 60]);
    expect(delays(2)).toEqual([60, 120, 240, 480, 30_720]);
    expect(delays(1.5)).toEqual([60, 90, 135, 202.5, 2306.602]);
    expect(delays(10, 86_400)).toEqual([86_400, 604_800, 604_800, 604_800, 604_800]);
  });
});

describe('the moment of the next attempt, in any zone and on either side of a clock change', () => {
  const anyRetry = fc.record({
    max_retries: fc.integer({ min: 1, max: 10 }),
    retry_delay_seconds: fc.integer({ min: 0, max: 604_800 }),
    backoff_factor: fc.double({ min: 1, max: 10, noNaN: true }),
  });

  test('is the first open one after the delay', () => {
    fc.assert(
      fc.property(anySchedule, momentsNearChanges(), anyRetry, fc.nat(9), (by, { zone, at }, retry, nth) => {
        const attempts = Math.min(nth, retry.max_retries - 1);
        const step = decideRetry({ outcome: 'busy' }, { ...untried, attempts }, rules(retry, by, zone), at, Math.random);
        if (step.step !== 'retry') throw new Error(step.step);
        const due = at + Math.round(Math.min(retry.retry_delay_seconds * retry.backoff_factor ** attempts, 7 * 86_400) * 1000);
        expect(step.at).toBeGreaterThanOrEqual(due);
        expect(isOpenAt(by, zone, step.at)).toBe(true);
        const waited = Math.floor(step.at / minute) - Math.floor(due / minute);
        expect(openMinutes(by, zone, due, 22).indexOf(true)).toBe(waited);
      }),
      { numRuns: 100 },
    );
  });

  test('is past the night, and past the weekend', () => {
    const working = scheduleOf([0, 1, 2, 3, 4].map((day) => slot(day, '09:00', '17:00')));
    const friday = Date.UTC(2026, 10, 27, 16, 59);
    const step = decideRetry({ outcome: 'no_answer' }, untried, rules({}, working), friday, Math.random);
    expect(step).toMatchObject({ step: 'retry', at: Date.UTC(2026, 10, 30, 9) });
  });

  test('does not come without a window: the row ends and says why', () => {
    expect(after('busy', {}, rules({}, scheduleOf([])))).toMatchObject({
      step: 'end',
      outcome: 'busy',
      reason: expect.stringMatching(/^no_calling_window: busy; /),
    });
    const nowhere = rules({}, scheduleOf([slot(0, '09:00', '17:00')]), 'Mars/Base');
    for (const outcome of ['busy', 'carrier_trouble', 'rate_limited'] as const)
      expect(after(outcome, {}, nowhere)).toMatchObject({
        step: 'end',
        state: 'failed',
        reason: expect.stringMatching(/^unknown_timezone: /),
      });
  });
});

describe('the carrier is at fault', () => {
  test('trouble is tried again up to three times, later each time, and uses up no attempt', () => {
    const delays = [0, 1, 2].map((carrierTroubleCount) => {
      const step = after('carrier_trouble', { attempts: 1, carrierTroubleCount });
      expect(step.tried).toEqual({ attempts: 1, carrierTroubleCount: carrierTroubleCount + 1, consecutiveRateLimits: 0 });
      return step.step === 'retry' ? (step.at - now) / 1000 : step.step;
    });
    expect(delays).toEqual([5, 20, 80]);
    expect(
      after('carrier_trouble', { attempts: 1, carrierTroubleCount: 3, consecutiveRateLimits: 0 }, rules(), {
        detail: 'Twilio answered 503',
      }),
    ).toEqual({
      step: 'end',
      state: 'failed',
      outcome: 'failed',
      reason: 'carrier_trouble: Twilio answered 503 (after 3 more tries)',
      tried: { attempts: 1, carrierTroubleCount: 4, consecutiveRateLimits: 0 },
    });
  });

  test('trouble is tried again even where the settings ask for no retry', () => {
    expect(after('carrier_trouble', {}, rules({ enabled: false, max_retries: 0 }))).toMatchObject({ step: 'retry' });
  });

  test('rows that failed together are spread, and Retry-After is the minimum wait', () => {
    const waits = (outcome: AttemptOutcome, retryAfterSeconds: number | undefined, random: number) => {
      const step = decideRetry({ outcome, retryAfterSeconds }, untried, rules(), now, () => random);
      return step.step === 'retry' ? (step.at - now) / 1000 : step.step;
    };
    expect([0, 0.5, 0.999].map((random) => waits('carrier_trouble', undefined, random))).toEqual([5, 6.25, 7.498]);
    expect(waits('carrier_trouble', 60, 0)).toBe(60);
    expect(waits('carrier_trouble', 1, 0)).toBe(5);
    expect(waits('rate_limited', undefined, 0)).toBe(10);
    expect(waits('rate_limited', 1_000_000, 0)).toBe(3600);
    expect(waits('rate_limited', -5, 0)).toBe(10);
  });

  test('a rate limit never ends a row and counts nothing', () => {
    const tried = { attempts: 2, carrierTroubleCount: 3, consecutiveRateLimits: 0 };
    expect(after('rate_limited', tried, rules({ enabled: false }))).toMatchObject({
      step: 'retry',
      tried: { ...tried, consecutiveRateLimits: 1 },
    });
  });

  test('rate limits in a row wait twice as long each time, up to five minutes, and anything else begins anew', () => {
    const waits = [0, 1, 2, 4, 5, 500].map((consecutiveRateLimits) => {
      const step = after('rate_limited', { consecutiveRateLimits });
      return step.step === 'retry' ? (step.at - now) / 1000 : step.step;
    });
    expect(waits).toEqual([10, 20, 40, 160, 300, 300]);
    expect(after('busy', { consecutiveRateLimits: 4 }).tried.consecutiveRateLimits).toBe(0);
  });
});

describe('failures that another try would not change', () => {
  test('a number that is refused or blocked, a failed and a cancelled call are never tried again', () => {
    for (const outcome of ['number_refused', 'number_blocked', 'failed', 'cancelled'] as const)
      expect(after(outcome, {}, rules({ max_retries: 10 }))).toMatchObject({
        step: 'end',
        state: 'failed',
        outcome: outcome === 'cancelled' ? 'cancelled' : 'failed',
        reason: expect.stringMatching(new RegExp(`^${outcome}: .`)),
        tried: { attempts: 1 },
      });
    expect(after('number_refused', {}, rules(), { detail: 'The number +1 is not a phone number' }).reason).toBe(
      'number_refused: The number +1 is not a phone number',
    );
  });

  test('a refused caller number, account or request holds the row, and names the correction', () => {
    for (const outcome of ['caller_id_refused', 'account_refused', 'request_refused'] as const)
      expect(after(outcome, { attempts: 1 })).toEqual({
        step: 'hold',
        stateReason: outcome,
        reason: expect.stringMatching(new RegExp(`^${outcome}: .*telephony configuration and resume$`)),
        tried: { attempts: 1, carrierTroubleCount: 0, consecutiveRateLimits: 0 },
      });
  });

  test('a person who was reached is done, without a reason', () => {
    expect(after('completed', { attempts: 2 })).toEqual({
      step: 'end',
      state: 'completed',
      outcome: 'completed',
      reason: null,
      tried: { attempts: 3, carrierTroubleCount: 0, consecutiveRateLimits: 0 },
    });
  });
});

test('whatever happens, a row ends after at most 1 + max_retries attempts and 3 more for trouble, and never goes back in time', () => {
  const ends = fc.infiniteStream(
    fc.constantFrom(...everyOutcome.filter((outcome) => outcome !== 'rate_limited' && !outcome.match(/caller|account|request/))),
  );
  fc.assert(
    fc.property(ends, fc.integer({ min: 0, max: 10 }), fc.boolean(), (outcomes, max_retries, enabled) => {
      let [tried, moment, dials] = [untried, now, 0];
      for (const outcome of outcomes) {
        dials += 1;
        const step = decideRetry({ outcome }, tried, rules({ max_retries, enabled }), moment, Math.random);
        const isTrouble = outcome === 'carrier_trouble';
        expect(step.tried).toEqual({
          attempts: tried.attempts + (isTrouble ? 0 : 1),
          carrierTroubleCount: tried.carrierTroubleCount + (isTrouble ? 1 : 0),
          consecutiveRateLimits: 0,
        });
        if (step.step === 'end') {
          expect(step.state === 'completed').toBe(outcome === 'completed');
          break;
        }
        if (step.step !== 'retry') throw new Error(step.step);
        expect(step.at).toBeGreaterThan(moment);
        [tried, moment] = [step.tried, step.at];
      }
      expect(dials).toBeLessThanOrEqual((enabled ? 1 + max_retries : 1) + 3);
    }),
    { numRuns: 500 },
  );
});

describe('outcomes', () => {
  test('the SIP code of a failed call distinguishes a number that does not exist from carrier trouble', () => {
    const outcomesOf = (codes: (number | undefined)[]) => codes.map(outcomeFromSipCode);
    expect(new Set(outcomesOf([404, 410, 484, 604]))).toEqual(new Set(['number_refused']));
    expect(new Set(outcomesOf([607, 608]))).toEqual(new Set(['number_blocked']));
    expect(new Set(outcomesOf([408, 429, 500, 503, 504, 599]))).toEqual(new Set(['carrier_trouble']));
    expect(new Set(outcomesOf([undefined, 0, 400, 403, 480, 488, 600, 603]))).toEqual(new Set(['failed']));
  });

  test('failures are failed calls and errors of the carrier; busy, no answer and voicemail are none', () => {
    expect(everyOutcome.filter(isFailure)).toEqual([
      'failed',
      'carrier_trouble',
      'number_refused',
      'number_blocked',
      'caller_id_refused',
      'account_refused',
      'request_refused',
    ]);
  });
});
