import { z } from 'zod';
import { timezoneProblem } from '../cron-schedule.ts';
import { validateTemplate } from '../templates/render.ts';

/** A text that parses as a template. */
export const templateSchema = z
  .string()
  .min(1)
  .max(10_000)
  .superRefine((text, context) => {
    const problem = validateTemplate(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

/** `contact`, `organization` or an IANA name. */
export const timeZoneSchema = z.string().superRefine((zone, context) => {
  const problem = zone === 'contact' || zone === 'organization' ? null : timezoneProblem(zone);
  if (problem) context.addIssue({ code: 'custom', message: `${problem}, "contact" or "organization"` });
});
