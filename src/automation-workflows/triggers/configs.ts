import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import type { Issue } from '../../library/errors.ts';
import { eventType } from '../../library/event-type.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { Condition } from '../../expressions/conditions/condition.ts';
import { ContextSchema } from '../../expressions/schemas/context-schema.ts';
import { cronProblem, timezoneProblem } from '../../expressions/cron-schedule.ts';
import { templateSchema } from '../../expressions/schemas/fields.ts';
import { internalEvents } from '../internal-events.ts';
import { WebhookConfig } from './webhooks/config.ts';

const checkedString = (problemOf: (text: string) => string | null) =>
  z.string().superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

/** `event_type` is another way to write one of `event_types`; stored and answered as `event_types`. */
const ContactEventConfig = configObject({
  event_types: z.array(eventType).min(1).max(100).optional(),
  event_type: eventType.optional(),
  filter: Condition.optional(),
  entry_key: templateSchema.optional(),
})
  .superRefine(({ event_types, event_type }, context) => {
    if (!event_types && !event_type)
      context.addIssue({ code: 'custom', path: ['event_types'], message: 'Name at least one event type, such as ["order_placed"]' });
  })
  .transform(({ event_types, event_type, ...rest }) => ({
    event_types: [...new Set([...(event_types ?? []), ...(event_type === undefined ? [] : [event_type])])],
    ...rest,
  }));

export const triggerConfigs = {
  contact_event: ContactEventConfig,
  webhook: WebhookConfig,
  schedule: configObject({
    cron: checkedString(cronProblem),
    timezone: checkedString(timezoneProblem).default('UTC'),
    audience: configObject({ list_id: z.int().positive() }).optional(),
    catch_up: z.enum(['skip', 'once']).default('skip'),
  }),
  data_condition: configObject({
    condition: Condition,
    on: z
      .array(z.enum(['created', 'updated']))
      .min(1)
      .max(2)
      .default(['created', 'updated']),
  }),
  event: configObject({ event: z.enum(internalEvents), filter: Condition.optional() }),
  manual: configObject({ context_schema: ContextSchema.optional() }),
};

export type TriggerType = keyof typeof triggerConfigs;
export type TriggerConfig<Type extends TriggerType = TriggerType> = z.infer<(typeof triggerConfigs)[Type]>;

export const triggerTypes = Object.keys(triggerConfigs) as TriggerType[];
export const isTriggerType = (type: unknown): type is TriggerType => typeof type === 'string' && Object.hasOwn(triggerConfigs, type);

/** The config with its defaults, or the issues of the config, whose locations begin with `prefix`. */
export function parseTriggerConfig<Type extends TriggerType>(
  type: Type,
  config: unknown,
  prefix: string[] = ['body', 'config'],
): { config: TriggerConfig<Type>; issues?: undefined } | { config?: undefined; issues: Issue[] } {
  const parsed = triggerConfigs[type].safeParse(config ?? {});
  return parsed.success ? { config: parsed.data as TriggerConfig<Type> } : { issues: toIssues(parsed.error, prefix) };
}
