import { z } from 'zod';
import { isScopeRoot } from '../../../expressions/templates/scope.ts';

const variableNamePattern = /^[A-Za-z_][\w-]*$/;

/** Why a top-level variable cannot have this name, or null. */
export function variableNameProblem(name: string): string | null {
  if (isScopeRoot(name)) return `"${name}" is a name of the run itself; choose another`;
  if (variableNamePattern.test(name) && name !== '__proto__') return null;
  return `"${name}" is not a variable name; use letters, digits, _ and -, beginning with a letter`;
}

export const variableNameSchema = z.string().superRefine((name, context) => {
  const message = variableNameProblem(name);
  if (message) context.addIssue({ code: 'custom', message });
});
