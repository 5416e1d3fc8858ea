import { z } from 'zod';
import { durationProblem } from '../../../library/time/durations.ts';
import { isTemplate, render, renderText, type Scope } from '../../../expressions/templates/render.ts';
import { isScopeRoot } from '../../../expressions/templates/scope.ts';

/** An ISO 8601 duration, or a template that renders to one. */
export const durationOrTemplate = (options?: { allowZero?: boolean }) =>
  z.string().superRefine((text, context) => {
    const problem = isTemplate(text) ? null : durationProblem(text, options);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

/** The rendered text, which may still be no duration. */
export const renderDuration = (text: string, scope: Scope): string => String(render(text, scope) ?? '');

/** Names of tags or lists; each may be a template. */
export const nameTemplates = z.array(z.string().min(1).max(1000)).max(100).default([]);

/** The rendered names, without empty ones and repeats. */
export const renderNames = (templates: readonly string[], scope: Scope): string[] => [
  ...new Set(templates.map((template) => renderText(template, scope).trim()).filter((name) => name !== '')),
];

const variableNamePattern = /^[A-Za-z_][\w-]*$/;

/** Why `name` cannot be the name of a top-level variable; null when it can. */
export function variableNameProblem(name: string): string | null {
  if (isScopeRoot(name)) return `"${name}" is a name of the run itself; choose another`;
  if (variableNamePattern.test(name) && name !== '__proto__') return null;
  return `"${name}" is not a variable name; use letters, digits, _ and -, beginning with a letter`;
}

export const variableNameSchema = z.string().superRefine((name, context) => {
  const message = variableNameProblem(name);
  if (message) context.addIssue({ code: 'custom', message });
});
