import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxFailingMs, nextHealth, type AttemptEnd, type EndpointHealth } from '../../src/webhook-endpoints/sending/endpoint-health.ts';

const day = 86_400_000;
const sound: EndpointHealth = { failing_since: null, last_failure_at: null, hold_until: null, disabled_reason: null };
const delivered: AttemptEnd = { isDelivered: true, status: 200, retryAfterMs: null };
const failed: AttemptEnd = { isDelivered: false, status: 500, retryAfterMs: null };

/** The health after one attempt at each of the moments (in days). */
const after = (ends: [number, AttemptEnd][]): EndpointHealth =>
  ends.reduce((health, [days, end]) => nextHealth(health, [end], days * day), sound);

describe('an endpoint', () => {
  test('is disabled when no attempt has succeeded for five days', () => {
    const days = [0, 1, 2, 3, 4];
    expect(after(days.map((at) => [at, failed])).disabled_reason).toBeNull();
    expect(after([...days, 5].map((at) => [at, failed])).disabled_reason).toMatch(/^failing: /);
  });

  test('is not disabled when one attempt has succeeded meanwhile', () => {
    const health = after([
      [0, failed],
      [2, delivered],
      [2.5, failed],
      [3.5, failed],
      [4.5, failed],
      [5.5, failed],
    ]);
    expect(health).toMatchObject({ disabled_reason: null, failing_since: 2.5 * day });
  });

  test('begins a new series of failures after a long silence', () => {
    expect(
      after([
        [0, failed],
        [30, failed],
      ]),
    ).toMatchObject({ disabled_reason: null, failing_since: 30 * day });
  });

  test('is disabled at once by 410, whatever came before', () => {
    expect(
      after([
        [0, delivered],
        [1, { ...failed, status: 410 }],
      ]).disabled_reason,
    ).toMatch(/^gone: /);
  });

  test('is left alone for as long as it asks, a day at most', () => {
    expect(after([[1, { ...failed, status: 429, retryAfterMs: 3000 }]]).hold_until).toBe(day + 3000);
    expect(after([[1, { ...failed, status: 503, retryAfterMs: 90 * day }]]).hold_until).toBe(2 * day);
  });

  test('is never disabled as failing before five days without a success, in any history', () => {
    const history = fc.array(fc.tuple(fc.integer({ min: 1, max: 2 * day }), fc.boolean()), { maxLength: 40 });
    fc.assert(
      fc.property(history, (steps) => {
        let [now, health, lastSuccess] = [0, sound, 0];
        for (const [gap, isDelivered] of steps) {
          now += gap;
          if (isDelivered) lastSuccess = now;
          health = nextHealth(health, [isDelivered ? delivered : failed], now);
          if (health.disabled_reason !== null) expect(now - lastSuccess).toBeGreaterThanOrEqual(maxFailingMs);
          expect(health.failing_since === null).toBe(isDelivered);
        }
      }),
    );
  });
});
