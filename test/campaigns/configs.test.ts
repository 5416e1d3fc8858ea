import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyConfigChange } from '../../src/campaigns/configs/apply-config-change.ts';
import { ConfigChange, defaultConfigs, RetryConfig } from '../../src/campaigns/configs/configs.ts';
import { isServiceError } from '../../src/library/errors.ts';
import { toIssues } from '../../src/library/json/zod-issues.ts';

const owner = { timezone: 'Asia/Kathmandu', plan: { concurrentCallLimit: 40 } };
const monday = { day_of_week: 0, start_time: '09:00', end_time: '17:00' };
const defaults = defaultConfigs(owner);
const change = (body: unknown, current: typeof defaults | null = null) => applyConfigChange(current, ConfigChange.parse(body), owner);

/** `loc: message` of everything that is wrong with a body, by schema and then by rule. */
function problems(body: unknown, current: typeof defaults | null = null): string[] {
  const parsed = ConfigChange.safeParse(body);
  if (!parsed.success) return toIssues(parsed.error, ['body']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  try {
    applyConfigChange(current, parsed.data, owner);
    return [];
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return error.issues?.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`) ?? [`${error.code}: ${error.message}`];
  }
}

test('a campaign without configs has the defaults, with the zone and limit of the organization', () => {
  expect(change({})).toEqual({
    retry_config: {
      enabled: true,
      max_retries: 2,
      retry_delay_seconds: 120,
      retry_on_busy: true,
      retry_on_no_answer: true,
      retry_on_voicemail: true,
      backoff_factor: 1,
    },
    max_concurrency: 40,
    schedule_config: { enabled: false, timezone: 'Asia/Kathmandu', slots: [], use_contact_timezone: false },
    circuit_breaker: { enabled: true, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 },
  });
  expect(defaultConfigs({ timezone: 'UTC', plan: { concurrentCallLimit: 5000 } }).max_concurrency).toBe(1000);
  expect(defaultConfigs({ timezone: 'UTC', plan: { concurrentCallLimit: 0 } }).max_concurrency).toBe(1);
});

describe('a change', () => {
  test('merges key by key and replaces slots', () => {
    const first = change({
      retry_config: { max_retries: 5 },
      schedule_config: { enabled: true, slots: [monday, { ...monday, day_of_week: 1 }] },
    });
    const second = change(
      { retry_config: { retry_on_busy: false }, schedule_config: { slots: [{ ...monday, day_of_week: 6 }], timezone: 'UTC' } },
      first,
    );
    expect(second.retry_config).toEqual({ ...defaults.retry_config, max_retries: 5, retry_on_busy: false });
    expect(second.schedule_config).toEqual({
      enabled: true,
      timezone: 'UTC',
      slots: [{ ...monday, day_of_week: 6 }],
      use_contact_timezone: false,
    });
  });

  test('null clears a key, or all keys, to the default', () => {
    const changed = change({
      retry_config: { max_retries: 0, retry_delay_seconds: 30 },
      max_concurrency: 3,
      schedule_config: { timezone: 'UTC' },
      circuit_breaker: { enabled: false },
    });
    expect(change({ retry_config: { max_retries: null }, schedule_config: { timezone: null } }, changed)).toEqual({
      ...changed,
      retry_config: { ...changed.retry_config, max_retries: 2 },
      schedule_config: { ...changed.schedule_config, timezone: 'Asia/Kathmandu' },
    });
    expect(change({ retry_config: null, max_concurrency: null, schedule_config: null, circuit_breaker: null }, changed)).toEqual(defaults);
  });

  test('of nothing changes nothing, whatever is stored; of one key only that key', () => {
    const anyRetry = fc.record({
      enabled: fc.boolean(),
      max_retries: fc.integer({ min: 0, max: 10 }),
      retry_delay_seconds: fc.integer({ min: 30, max: 86_400 }),
      retry_on_busy: fc.boolean(),
      retry_on_no_answer: fc.boolean(),
      retry_on_voicemail: fc.boolean(),
      backoff_factor: fc.integer({ min: 1, max: 10 }),
    });
    const keys = Object.keys(RetryConfig.shape) as (keyof RetryConfig)[];
    fc.assert(
      fc.property(anyRetry, anyRetry, fc.subarray(keys), (stored, wished, given) => {
        const current = { ...defaults, retry_config: stored };
        expect(change({}, current)).toEqual(current);
        const changed = change({ retry_config: Object.fromEntries(given.map((key) => [key, wished[key]])) }, current);
        for (const key of keys) expect(changed.retry_config[key]).toBe((given.includes(key) ? wished : stored)[key]);
        expect(changed.circuit_breaker).toEqual(current.circuit_breaker);
      }),
    );
  });

  test('adds the default of a key that is newer than the stored configs', () => {
    const { backoff_factor: _, ...older } = defaults.retry_config;
    const stored = { ...defaults, retry_config: older as RetryConfig };
    expect(change({ retry_config: { max_retries: 1 } }, stored).retry_config).toEqual({ ...defaults.retry_config, max_retries: 1 });
  });
});

describe('time_slots', () => {
  test('are the slots of a schedule in other words, and enable it', () => {
    const slots = [
      { day: 'monday', start: '09:00', end: '17:00' },
      { day: 'Sun', start: '22:00', end: '02:00' },
    ];
    expect(change({ time_slots: slots }).schedule_config).toEqual({
      enabled: true,
      timezone: 'Asia/Kathmandu',
      slots: [monday, { day_of_week: 6, start_time: '22:00', end_time: '02:00' }],
      use_contact_timezone: false,
    });
  });

  test('null takes them away: calls are placed at any time; the zone stays', () => {
    const stored = change({ schedule_config: { enabled: true, timezone: 'UTC', slots: [monday] } });
    expect(change({ time_slots: null }, stored).schedule_config).toEqual({ ...defaults.schedule_config, timezone: 'UTC' });
    expect(change({ time_slots: null, schedule_config: { timezone: 'Europe/Rome' } }, stored).schedule_config).toMatchObject({
      timezone: 'Europe/Rome',
      enabled: true,
    });
  });

  test('and schedule_config at once are refused', () => {
    expect(problems({ time_slots: [{ day: 'monday', start: '09:00', end: '17:00' }], schedule_config: { timezone: 'UTC' } })).toEqual([
      'body.time_slots: time_slots and schedule_config say the same thing; give one of them',
    ]);
  });
});

describe('every bad value is named with its fault', () => {
  const slot = (day: string, start: string, end: string) => ({ time_slots: [{ day, start, end }] });
  const slots = (value: unknown) => ({ schedule_config: { enabled: true, slots: value } });

  test.each([
    [{ retry_config: { max_retries: 51 } }, ['body.retry_config.max_retries: Must be a whole number from 0 to 50']],
    [{ retry_config: { max_retries: 1.5 } }, ['body.retry_config.max_retries: Must be a whole number from 0 to 50']],
    [{ retry_config: { max_retries: '2' } }, ['body.retry_config.max_retries: Must be a whole number from 0 to 50']],
    [
      { retry_config: { enabled: 'yes', retry_delay_seconds: -1, backoff_factor: 0.5 } },
      [
        'body.retry_config.enabled: Must be true or false',
        'body.retry_config.retry_delay_seconds: Must be a whole number from 0 to 604800',
        'body.retry_config.backoff_factor: Must be a number from 1 to 10',
      ],
    ],
    [{ retry_config: 'never' }, ['body.retry_config: Must be an object']],
    [{ retry_config: [] }, ['body.retry_config: Must be an object']],
    [{ max_concurrency: 0 }, ['body.max_concurrency: Must be a whole number from 1 to 1000']],
    [{ max_concurrency: 1001 }, ['body.max_concurrency: Must be a whole number from 1 to 1000']],
    [
      { circuit_breaker: { failure_threshold: 50, window_seconds: 0, min_calls_in_window: 0, treshold: 1 } },
      [
        'body.circuit_breaker.failure_threshold: Must be a number from 0 to 1',
        'body.circuit_breaker.window_seconds: Must be a whole number from 1 to 86400',
        'body.circuit_breaker.min_calls_in_window: Must be a whole number from 1 to 1000',
      ],
    ],
    [
      { schedule_config: { timezone: 'Mars/Base' } },
      ['body.schedule_config.timezone: Unknown time zone "Mars/Base"; use an IANA name such as America/New_York or UTC'],
    ],
    [{ schedule_config: { timezone: 5 } }, ['body.schedule_config.timezone: Must be the name of a time zone']],
    [
      slots([]),
      ['body.schedule_config.slots: An enabled schedule needs at least one slot; add one, or set enabled to false to call at any time'],
    ],
    [slots(monday), ['body.schedule_config.slots: Must be a list of slots']],
    [slots(Array.from({ length: 51 }, () => monday)), ['body.schedule_config.slots: At most 50 slots']],
    [
      slots([monday, { ...monday, end_time: '09:00' }]),
      ['body.schedule_config.slots.1.end_time: 09:00 to 09:00 is no time at all; for the whole day write 00:00 to 24:00'],
    ],
    [slots([{ ...monday, start_time: '9:00:30' }]), ['body.schedule_config.slots.0.start_time: Must be HH:MM between 00:00 and 24:00']],
    [slot('funday', '09:00', '17:00'), ['body.time_slots.0.day: Unknown day; use monday to sunday']],
    [slot('monday', '09:00', '24:30'), ['body.time_slots.0.end: Must be HH:MM between 00:00 and 24:00']],
    [slot('monday', '9', '17:00'), ['body.time_slots.0.start: Must be HH:MM between 00:00 and 24:00']],
    [slot('monday', '12:00', '12:00'), ['body.time_slots.0.end: 12:00 to 12:00 is no time at all; for the whole day write 00:00 to 24:00']],
    [{ time_slots: [] }, ['body.time_slots: Give at least one slot, or null to call at any time']],
    [{ max_concurrency: 41 }, ["bad_request: max_concurrency 41 is over the organization's concurrent_call_limit of 40; use 40 or fewer"]],
  ])('%j', (body, expected) => {
    expect(problems(body)).toEqual(expected);
  });

  test('the day of a slot is 0 to 6', () => {
    expect(problems(slots([{ ...monday, day_of_week: 7 }]))).toEqual([
      expect.stringMatching(/^body\.schedule_config\.slots\.0\.day_of_week: /),
    ]);
  });

  test('enabling a schedule that has no slots, or taking the slots of an enabled one, is refused', () => {
    const none = [expect.stringMatching(/^body\.schedule_config\.slots: An enabled schedule needs/)];
    expect(problems({ schedule_config: { enabled: true } }, defaults)).toEqual(none);
    const enabled = change({ time_slots: [{ day: 'monday', start: '09:00', end: '17:00' }] });
    expect(problems({ schedule_config: { slots: null } }, enabled)).toEqual(none);
    expect(problems({ schedule_config: { slots: [], enabled: false } }, enabled)).toEqual([]);
  });

  test('a limit that was lowered since hinders no other change', () => {
    expect(problems({ retry_config: { max_retries: 1 } }, { ...defaults, max_concurrency: 400 })).toEqual([]);
  });
});
