import { z } from 'zod';
import { durationSchema } from '../library/durations.ts';
import { validateTemplate } from './templates.ts';

/** A string that must parse as a template. */
export const templateSchema = z
  .string()
  .min(1)
  .max(10_000)
  .superRefine((text, context) => {
    const problem = validateTemplate(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

export const RetrySettings = z.strictObject({
  max_attempts: z.int().min(1).max(10).default(3),
  initial_delay_seconds: z.number().min(0).max(3600).default(5),
  factor: z.number().min(1).max(10).default(2),
  max_delay_seconds: z.number().min(0).max(3600).default(300),
});

/** Every setting of a workflow with its default. Strict: an unknown key is an error. */
export const WorkflowSettings = z.strictObject({
  /** Template; null: the contact's id, else the event's. */
  entry_key: templateSchema.nullable().default(null),
  timeout: durationSchema().default('P30D'),
  on_error: z.enum(['fail', 'continue']).default('fail'),
  retry: RetrySettings.prefault({}),
});

export type WorkflowSettings = z.infer<typeof WorkflowSettings>;

export const defaultWorkflowSettings: WorkflowSettings = WorkflowSettings.parse({});
