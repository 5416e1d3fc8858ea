import { z } from 'zod';
import { durationProblem } from '../../../library/time/durations.ts';
import { isTemplate, render, type Scope } from '../../../expressions/templates/render.ts';

/** An ISO 8601 duration, or a template that gives one. */
export const durationOrTemplate = (options?: { allowZero?: boolean }) =>
  z.string().superRefine((text, context) => {
    const problem = isTemplate(text) ? null : durationProblem(text, options);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

/** What is to be parsed as a duration; it may still be none. */
export const renderDuration = (text: string, scope: Scope): string => String(render(text, scope) ?? '');
