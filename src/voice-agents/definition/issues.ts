import type { z } from 'zod';
import type { Issue } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';

export const definitionPath = ['body', 'workflow_definition'];

export const definitionIssue = (loc: string[], msg: string): Issue => ({ loc: [...definitionPath, ...loc], msg, type: 'value_error' });
export const toSchemaIssues = (error: z.ZodError, loc: string[]): Issue[] => toIssues(error, [...definitionPath, ...loc]);
