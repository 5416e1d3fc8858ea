import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryDelayMs } from '../../src/automation-workflows/definitions/retry-policy.ts';
import { WorkflowSettings, defaultWorkflowSettings } from '../../src/automation-workflows/definitions/settings.ts';
import { collectWarnings } from '../../src/library/json/config-object.ts';
import { toIssues } from '../../src/library/json/zod-issues.ts';
import { parseRetryAfter } from '../../src/library/time/retry-after.ts';

const issues = (settings: unknown) => {
  const { error } = WorkflowSettings.safeParse(settings);
  return error ? toIssues(error, ['body', 'settings']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`) : [];
};

test('every setting has its default', () => {
  expect(defaultWorkflowSettings).toEqual({
    reentry: { mode: 'always' },
    entry_key: null,
    one_live_run_per_key: false,
    max_active_runs: null,
    timeout: 'P30D',
    exit_on: [],
    quiet_hours: null,
    on_error: 'fail',
    retry: { max_attempts: 3, initial_delay_seconds: 5, factor: 2, max_delay_seconds: 300 },
  });
  expect(WorkflowSettings.parse({ retry: { max_attempts: 1 } }).retry).toEqual({ ...defaultWorkflowSettings.retry, max_attempts: 1 });
  expect(WorkflowSettings.parse(defaultWorkflowSettings)).toEqual(defaultWorkflowSettings);
});

test('an unknown setting is kept with a warning, at every depth', () => {
  const given = { time_out: 'P1D', retry: { max_attempt: 3 }, exit_on: [{ event_type: 'left', filters: 1 }] };
  expect(WorkflowSettings.parse(given)).toMatchObject(given);
  expect(collectWarnings(WorkflowSettings, given, ['body', 'settings']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)).toEqual([
    'body.settings.time_out: `time_out` is not known and has no effect; did you mean `timeout`?',
    'body.settings.retry.max_attempt: `max_attempt` is not known and has no effect; did you mean `max_attempts`?',
    'body.settings.exit_on.0.filters: `filters` is not known and has no effect; did you mean `filter`?',
  ]);
});

test('an invalid setting is refused with the correction', () => {
  expect(issues({ timeout: '30 days' })[0]).toMatch(/^body\.settings\.timeout: "30 days" is not an ISO 8601 duration/);
  expect(issues({ timeout: 'PT0S' })[0]).toContain('zero');
  expect(issues({ on_error: 'stop' })[0]).toMatch(/on_error: .*"fail"\|"continue"/);
  expect(issues({ entry_key: '{{ data.id' })[0]).toMatch(/entry_key: Template/);
  expect(issues({ retry: { max_attempts: 99, factor: 0 } })).toHaveLength(2);
});

test('invalid rules of admission, exits and quiet hours are refused with the correction', () => {
  expect(issues({ reentry: { mode: 'after' } })).toEqual(['body.settings.reentry.after: Mode "after" needs a duration, for example "P7D"']);
  expect(issues({ reentry: { mode: 'never', after: 'P1D' } })[0]).toContain('leave it out with "never"');
  expect(issues({ reentry: { mode: 'sometimes' } })[0]).toMatch(/reentry\.mode: .*"always"\|"never"\|"after"/);
  expect(issues({ max_active_runs: 0 })[0]).toMatch(/max_active_runs/);
  expect(issues({ exit_on: [{ event_type: '' }] })[0]).toMatch(/exit_on\.0\.event_type/);
  expect(issues({ exit_on: [{ event_type: 'x'.repeat(255) }] })).toEqual([]);
  expect(issues({ exit_on: [{ event_type: 'x'.repeat(256) }] })[0]).toContain('255 characters or fewer');
  expect(issues({ exit_on: [{ event_type: 'left', entry_key: '{{ data.id' }] })[0]).toMatch(/exit_on\.0\.entry_key: Template/);
  expect(issues({ exit_on: [{ event_type: 'left', filter: { field: 'data.id', operator: 'like', value: 1 } }] })[0]).toContain('operator');
  const night = { day_of_week: 0, start_time: '20:00', end_time: '08:00' };
  expect(issues({ quiet_hours: { slots: [night] } })).toEqual([]);
  expect(issues({ quiet_hours: { slots: [night], timezone: 'Mars/Base' } })[0]).toMatch(
    /timezone: Unknown time zone "Mars\/Base".*"contact" or "organization"/,
  );
  expect(issues({ quiet_hours: { slots: [night], policy: 'drop' } })[0]).toMatch(/policy: .*"defer"\|"skip"/);
  const everyDay = [0, 1, 2, 3, 4, 5, 6].map((day_of_week) => ({ day_of_week, start_time: '00:00', end_time: '24:00' }));
  expect(issues({ quiet_hours: { slots: everyDay } })[0]).toContain('cover the whole week');
});

const { retry } = defaultWorkflowSettings;

test('waits grow by the factor up to the limit, half of each at random', () => {
  expect([1, 2, 3].map((attempt) => retryDelayMs(retry, attempt, undefined, () => 1))).toEqual([5000, 10_000, 20_000]);
  expect([1, 2, 3].map((attempt) => retryDelayMs(retry, attempt, undefined, () => 0))).toEqual([2500, 5000, 10_000]);
  expect(retryDelayMs(retry, 9, undefined, () => 1)).toBe(300_000);
});

test('a wait is never shorter than what the server asks for, up to five minutes, nor longer than policy and server together allow', () => {
  const policy = fc.record({
    max_attempts: fc.integer({ min: 1, max: 10 }),
    initial_delay_seconds: fc.integer({ min: 0, max: 3600 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    max_delay_seconds: fc.integer({ min: 0, max: 3600 }),
  });
  const asked = fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined });
  fc.assert(
    fc.property(
      policy,
      fc.integer({ min: 1, max: 400 }),
      asked,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (one, attempt, seconds, random) => {
        const delay = retryDelayMs(one, attempt, seconds, () => random);
        expect(delay).toBeGreaterThanOrEqual(Math.min(seconds ?? 0, 300) * 1000);
        expect(delay).toBeLessThanOrEqual(Math.max(one.max_delay_seconds, Math.min(seconds ?? 0, 300)) * 1000);
      },
    ),
  );
});

test('Retry-After is seconds or a date; anything else is as if it were not there', () => {
  const now = Date.UTC(2026, 10, 20, 15, 15, 30);
  expect(parseRetryAfter('120', now)).toBe(120);
  expect(parseRetryAfter('Fri, 20 Nov 2026 15:16:00 GMT', now)).toBe(30);
  expect(parseRetryAfter('Fri, 20 Nov 2026 15:00:00 GMT', now)).toBe(0);
  for (const header of [undefined, '', 'soon', '-5x']) expect(parseRetryAfter(header, now)).toBeUndefined();
});
