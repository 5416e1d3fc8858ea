import { z } from '@hono/zod-openapi';
import { queryId } from '../../http/router.ts';
import { triggerState, triggerType } from '../triggers/schemas.ts';

const explainRules = [
  'no_trigger',
  'status',
  'max_active_runs',
  'event',
  'filter',
  'condition',
  'change',
  'audience',
  'next_fire_at',
  'context_schema',
  'trigger_context_schema',
  'entry_key',
  'reentry',
  'one_live_run_per_key',
] as const;

const passed = z.boolean().nullable().describe('Whether the rule would let the contact in; null: that depends on a future event.');
const expected = z.unknown().describe('The value that the rule requires.');
const actual = z.unknown().describe('The value that was found; null: there is none.');
const rule = z.enum(explainRules);

export const ExplainCheck = z
  .object({
    rule: rule.describe('The rule of admission that was evaluated.'),
    passed,
    message: z.string().describe('The result, in words.'),
    expected,
    actual,
    comparisons: z
      .array(
        z.object({
          field: z.string().describe('The field that is compared.'),
          operator: z.string().describe('How it is compared, such as `eq`.'),
          expected,
          actual,
          result: passed,
        }),
      )
      .optional()
      .describe('The values of each comparison in a filter or condition. Absent with other rules.'),
  })
  .describe('One rule of a journey or trigger, evaluated for a contact.')
  .openapi('AutomationExplanationCheck');
export type ExplainCheck = z.infer<typeof ExplainCheck>;

export const ExplainQuery = z.object({ contact_id: queryId.describe('The contact.') });

const entryKey = z.string().nullable().describe('The key under which the contact would enter; null when that depends on a future event.');

export const Explanation = z
  .object({
    automation_workflow_id: z.int().describe('Id of the journey.'),
    contact_id: z.int().describe('Id of the contact whose entry is explained.'),
    would_enter: z
      .boolean()
      .describe('Whether a trigger would start a run of the contact; false also when that depends on a future event.'),
    summary: z.string().describe('The first thing that stops the contact, or how it would enter, in a sentence.'),
    stopped_by: rule.nullable().describe('The rule that stops it; null: none does.'),
    entry_key: entryKey,
    workflow_checks: z.array(ExplainCheck).describe('The rules of the journey as a whole.'),
    triggers: z
      .array(
        z.object({
          trigger_id: z.int().describe('Which trigger of the journey it is.'),
          type: triggerType,
          name: z.string().describe('Name of the trigger.'),
          state: triggerState,
          would_fire: z
            .boolean()
            .nullable()
            .describe('Whether it starts a run of the contact at its next event; null: that depends on the event.'),
          when: z.string().describe('What fires it, in words.'),
          entry_key: entryKey,
          checks: z.array(ExplainCheck).describe('The rules of this trigger.'),
        }),
      )
      .describe('Each trigger of the journey.'),
  })
  .describe('Whether a contact would enter a journey now, and what stops it.')
  .openapi('AutomationExplanation');
export type Explanation = z.infer<typeof Explanation>;
