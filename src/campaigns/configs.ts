import { z } from 'zod';
import { configObject, warningsOf, type Warning } from '../library/config-object.ts';
import { timezoneProblem } from '../automation-workflows/schedule.ts';
import { WeeklySlot } from '../library/weekly-slots.ts';
import { TimeSlots } from './time-slots.ts';

const yesOrNo = z.boolean('Must be true or false');
const wholeNumber = (least: number, most: number) => {
  const message = `Must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
};
const number = (least: number, most: number) => {
  const message = `Must be a number from ${least} to ${most}`;
  return z.number(message).min(least, message).max(most, message);
};

const retryKeys = {
  enabled: yesOrNo,
  max_retries: wholeNumber(0, 50),
  retry_delay_seconds: wholeNumber(0, 604_800),
  retry_on_busy: yesOrNo,
  retry_on_no_answer: yesOrNo,
  retry_on_voicemail: yesOrNo,
  /** The delay before each retry is this many times the one before. */
  backoff_factor: number(1, 10),
};
export const RetryConfig = configObject(retryKeys);
export type RetryConfig = z.infer<typeof RetryConfig>;

const scheduleKeys = {
  enabled: yesOrNo,
  timezone: z.string('Must be the name of a time zone').superRefine((zone, context) => {
    const problem = timezoneProblem(zone);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  }),
  slots: z.array(WeeklySlot, 'Must be a list of slots').max(50, 'At most 50 slots'),
  /** Each row's own zone goes before `timezone`. */
  use_contact_timezone: yesOrNo,
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
  enabled: yesOrNo,
  /** Share of failures among the calls that ended in the window; 0 trips at the first failure. */
  failure_threshold: number(0, 1),
  window_seconds: wholeNumber(1, 86_400),
  min_calls_in_window: wholeNumber(1, 1000),
};
export const CircuitBreakerConfig = configObject(breakerKeys);
export type CircuitBreakerConfig = z.infer<typeof CircuitBreakerConfig>;

/** The parts of a campaign's configs that have no effect. */
export const configWarnings = (configs: Omit<CampaignConfigs, 'max_concurrency'>): Warning[] => [
  ...warningsOf(RetryConfig, configs.retry_config, ['body', 'retry_config']),
  ...warningsOf(ScheduleConfig, configs.schedule_config, ['body', 'schedule_config']),
  ...warningsOf(CircuitBreakerConfig, configs.circuit_breaker, ['body', 'circuit_breaker']),
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

const mostConcurrency = 1000;

/** What of an organization its campaigns' settings depend on. */
export interface ConfigOwner {
  timezone: string;
  plan: { concurrentCallLimit: number };
}

/** The configs of a campaign of which nothing was said. */
export const defaultConfigs = ({ timezone, plan }: ConfigOwner): CampaignConfigs => ({
  retry_config: retryDefaults,
  max_concurrency: Math.max(1, Math.min(plan.concurrentCallLimit, mostConcurrency)),
  schedule_config: { ...scheduleDefaults, timezone },
  circuit_breaker: breakerDefaults,
});

type Change<Keys extends z.ZodRawShape> = { [Key in keyof Keys]: z.ZodOptional<z.ZodNullable<Keys[Key]>> };

/** Each key may be absent, which keeps it, or null, which gives it its default. */
const changeOf = <Keys extends Record<string, z.ZodType>>(keys: Keys, defaults: Partial<Record<keyof Keys, unknown>>) =>
  configObject(
    Object.fromEntries(
      Object.entries(keys).map(([key, schema]) => [key, (key in defaults ? schema.meta({ default: defaults[key] }) : schema).nullish()]),
    ) as Change<Keys>,
    'Must be an object',
  ).nullish();

/** The fields of a create or PATCH body that set configs. */
export const configChangeFields = {
  retry_config: changeOf(retryKeys, retryDefaults),
  max_concurrency: wholeNumber(1, mostConcurrency).nullish(),
  schedule_config: changeOf(scheduleKeys, scheduleDefaults),
  time_slots: TimeSlots.nullish(),
  circuit_breaker: changeOf(breakerKeys, breakerDefaults),
};
export const ConfigChange = z.object(configChangeFields);
export type ConfigChange = z.infer<typeof ConfigChange>;
