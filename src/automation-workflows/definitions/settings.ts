import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import { LRUCache } from 'lru-cache';
import { durationSchema } from '../../library/time/durations.ts';
import { eventType } from '../../library/event-type.ts';
import { coversWholeWeek, WeeklySlots } from '../../library/time/weekly-slots.ts';
import { Condition } from '../../expressions/conditions/condition.ts';
import { templateSchema, timeZoneSchema } from '../../expressions/schemas/fields.ts';

export const RetrySettings = configObject({
  max_attempts: z.int().min(1).max(10).default(3),
  initial_delay_seconds: z.number().min(0).max(3600).default(5),
  factor: z.number().min(1).max(10).default(2),
  max_delay_seconds: z.number().min(0).max(3600).default(300),
});

/** When an entry key may enter again; `after` counts from its last entry. */
const ReentrySettings = configObject({
  mode: z.enum(['always', 'never', 'after']).default('always'),
  after: durationSchema().optional(),
}).superRefine(({ mode, after }, context) => {
  if (mode === 'after' && after === undefined)
    context.addIssue({ code: 'custom', path: ['after'], message: 'Mode "after" needs a duration, for example "P7D"' });
  if (mode !== 'after' && after !== undefined)
    context.addIssue({ code: 'custom', path: ['after'], message: `after belongs to mode "after"; leave it out with "${mode}"` });
});

export const ExitRule = configObject({
  event_type: eventType,
  /** A template over the event: the run with this entry key ends. Absent: the runs of the event's contact end. */
  entry_key: templateSchema.nullish(),
  filter: Condition.nullish(),
});
export type ExitRule = z.infer<typeof ExitRule>;

/** The weekly times in which nodes that reach a person are deferred or skipped. */
const QuietHours = configObject({
  timezone: timeZoneSchema.default('contact'),
  slots: WeeklySlots,
  policy: z.enum(['defer', 'skip']).default('defer'),
}).superRefine(({ slots }, context) => {
  if (coversWholeWeek(slots))
    context.addIssue({
      code: 'custom',
      path: ['slots'],
      message: 'The slots cover the whole week, so nothing could ever be sent; leave some time free',
    });
});
type QuietHours = z.infer<typeof QuietHours>;

/** Every setting of a workflow with its default. */
export const WorkflowSettings = configObject({
  reentry: ReentrySettings.prefault({}),
  /** A template; null: the contact's id, or the event's id without a contact. */
  entry_key: templateSchema.nullable().default(null),
  one_live_run_per_key: z.boolean().default(false),
  max_active_runs: z.int().min(1).max(1_000_000).nullable().default(null),
  timeout: durationSchema().default('P30D'),
  exit_on: z.array(ExitRule).max(20).default([]),
  quiet_hours: QuietHours.nullable().default(null),
  on_error: z.enum(['fail', 'continue']).default('fail'),
  retry: RetrySettings.prefault({}),
});

export type WorkflowSettings = z.infer<typeof WorkflowSettings>;

export const defaultWorkflowSettings: WorkflowSettings = WorkflowSettings.parse({});

/** Whether events may end live runs of the workflow. */
export const hasExitRules = ({ exit_on }: WorkflowSettings): boolean => exit_on.length > 0;

export const exitEventTypes = ({ exit_on }: WorkflowSettings): string[] => [...new Set(exit_on.map((rule) => rule.event_type))];

const parsedSettings = new LRUCache<string, WorkflowSettings>({ max: 500, memoMethod: (text) => WorkflowSettings.parse(JSON.parse(text)) });

/** The settings in a workflow's row. A setting that is missing in an older row has its default. */
export const parseSettings = (text: string): WorkflowSettings => parsedSettings.memo(text);
