import { z } from 'zod';
import { configObject, collectWarnings, type Warning } from '../../library/json/config-object.ts';
import { timezoneProblem } from '../../expressions/cron-schedule.ts';
import { WeeklySlot } from '../../library/time/weekly-slots.ts';
import { TimeSlots } from './time-slots.ts';

const booleanField = z.boolean('Must be true or false');
const integerField = (min: number, max: number) => {
  const message = `Must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};
const numberField = (min: number, max: number) => {
  const message = `Must be a number from ${min} to ${max}`;
  return z.number(message).min(min, message).max(max, message);
};

const retryKeys = {
  enabled: booleanField.describe('Whether rows are called again at all.'),
  max_retries: integerField(0, 50).describe('How often a row is called again after its first call.'),
  retry_delay_seconds: integerField(0, 604_800).describe('Seconds between a call and the first retry.'),
  retry_on_busy: booleanField.describe('Whether a row is called again when the line was busy.'),
  retry_on_no_answer: booleanField.describe('Whether a row is called again when nobody answered.'),
  retry_on_voicemail: booleanField.describe('Whether a row is called again when an answering machine took the call.'),
  backoff_factor: numberField(1, 10).describe('The delay before each retry is this many times the one before; 1: always the same.'),
};
export const RetryConfig = configObject(retryKeys);
export type RetryConfig = z.infer<typeof RetryConfig>;

const scheduleKeys = {
  enabled: booleanField.describe('True: calls are placed in `slots` alone; false: at any time.'),
  timezone: z
    .string('Must be the name of a time zone')
    .superRefine((zone, context) => {
      const problem = timezoneProblem(zone);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .describe('IANA time zone of the slots, such as `America/New_York`; that of the organization when left out.'),
  slots: z
    .array(WeeklySlot, 'Must be a list of slots')
    .max(50, 'At most 50 slots')
    .describe('The calling windows of the week, 1 to 50 when enabled. A change replaces them all.'),
  use_contact_timezone: booleanField.describe(
    'Whether each row goes by its own zone first: custom field `timezone` of the contact, else the country of the number where that has one zone.',
  ),
};
export const ScheduleConfig = configObject(scheduleKeys).superRefine(({ enabled, slots }, context) => {
  if (enabled && slots.length === 0)
    context.addIssue({
      code: 'custom',
      path: ['slots'],
      message: 'An enabled schedule needs at least one slot; add one, or set enabled to false to call at any time',
    });
});
export type ScheduleConfig = z.infer<typeof ScheduleConfig>;

const breakerKeys = {
  enabled: booleanField.describe('Whether the campaign pauses by itself when too many calls fail.'),
  failure_threshold: numberField(0, 1).describe(
    'Share of failed calls, from 0 to 1, among those that ended within the window; 0 pauses at the first failure. Busy lines, machines and calls that nobody answers are no failures.',
  ),
  window_seconds: integerField(1, 86_400).describe('How many seconds back calls count.'),
  min_calls_in_window: integerField(1, 1000).describe('How many calls must have ended within the window before it may pause.'),
};
export const CircuitBreakerConfig = configObject(breakerKeys);
export type CircuitBreakerConfig = z.infer<typeof CircuitBreakerConfig>;

/** The parts of a campaign's configs that have no effect. */
export const configWarnings = (configs: Omit<CampaignConfigs, 'max_concurrency'>): Warning[] => [
  ...collectWarnings(RetryConfig, configs.retry_config, ['body', 'retry_config']),
  ...collectWarnings(ScheduleConfig, configs.schedule_config, ['body', 'schedule_config']),
  ...collectWarnings(CircuitBreakerConfig, configs.circuit_breaker, ['body', 'circuit_breaker']),
];

export interface CampaignConfigs {
  retry_config: RetryConfig;
  max_concurrency: number;
  schedule_config: ScheduleConfig;
  circuit_breaker: CircuitBreakerConfig;
}

const retryDefaults: RetryConfig = {
  enabled: true,
  max_retries: 2,
  retry_delay_seconds: 120,
  retry_on_busy: true,
  retry_on_no_answer: true,
  retry_on_voicemail: true,
  backoff_factor: 1,
};
const scheduleDefaults: Omit<ScheduleConfig, 'timezone'> = { enabled: false, slots: [], use_contact_timezone: false };
const breakerDefaults: CircuitBreakerConfig = { enabled: true, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 };

const maxConcurrencyLimit = 1000;

/** The properties of an organization that its campaigns' configs depend on. */
export interface OrganizationLimits {
  timezone: string;
  plan: { concurrentCallLimit: number };
}

/** The configs of a campaign that is created without any. */
export const defaultConfigs = ({ timezone, plan }: OrganizationLimits): CampaignConfigs => ({
  retry_config: retryDefaults,
  max_concurrency: Math.max(1, Math.min(plan.concurrentCallLimit, maxConcurrencyLimit)),
  schedule_config: { ...scheduleDefaults, timezone },
  circuit_breaker: breakerDefaults,
});

type ConfigChangeShape<Keys extends z.ZodRawShape> = { [Key in keyof Keys]: z.ZodOptional<z.ZodNullable<Keys[Key]>> };

/** An absent key keeps its value; null gives it its default. */
const toChangeSchema = <Keys extends Record<string, z.ZodType>>(keys: Keys, defaults: Partial<Record<keyof Keys, unknown>>) =>
  configObject(
    Object.fromEntries(
      Object.entries(keys).map(([key, schema]) => [key, (key in defaults ? schema.meta({ default: defaults[key] }) : schema).nullish()]),
    ) as ConfigChangeShape<Keys>,
    'Must be an object',
  ).nullish();

/** The fields of a create or PATCH body that set configs. */
export const configChangeFields = {
  retry_config: toChangeSchema(retryKeys, retryDefaults).describe(
    'Whether and when rows are called again. Absent keys stay; null gives a key its default.',
  ),
  max_concurrency: integerField(1, maxConcurrencyLimit)
    .nullish()
    .describe('How many of its calls may be live at one time; at most, and by default, as many as the plan of the organization allows.'),
  schedule_config: toChangeSchema(scheduleKeys, scheduleDefaults).describe(
    'When it calls. Absent keys stay; null gives a key its default.',
  ),
  time_slots: TimeSlots.nullish().describe(
    '`schedule_config.slots` in other words, and enables them; null: at any time. Give one of the two.',
  ),
  circuit_breaker: toChangeSchema(breakerKeys, breakerDefaults).describe(
    'When it pauses by itself. Absent keys stay; null gives a key its default.',
  ),
};
export const ConfigChange = z.object(configChangeFields);
export type ConfigChange = z.infer<typeof ConfigChange>;
