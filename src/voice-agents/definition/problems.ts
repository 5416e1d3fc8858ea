import type { z } from 'zod';
import type { Issue } from '../../library/errors.ts';
import { issuesOf } from '../../library/schema-issues.ts';

export const root = ['body', 'workflow_definition'];

export const problem = (loc: string[], msg: string): Issue => ({ loc: [...root, ...loc], msg, type: 'value_error' });
export const schemaProblems = (error: z.ZodError, loc: string[]): Issue[] => issuesOf(error, [...root, ...loc]);
