import type { z } from 'zod';
import type { Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json.ts';
import { issuesOf } from '../../library/schema-issues.ts';

const root = ['body', 'workflow_definition'];

export const problem = (loc: string[], msg: string): Issue => ({ loc: [...root, ...loc], msg, type: 'value_error' });
export const schemaProblems = (error: z.ZodError, loc: string[]): Issue[] => issuesOf(error, [...root, ...loc]);

export interface Item {
  id: string;
  [key: string]: unknown;
}

/** Checks each item. All that have an id are given back, except the second of one id; an item without is named by its position. */
export function readItems(values: unknown[], schema: z.ZodType, kind: 'nodes' | 'edges'): { items: Item[]; issues: Issue[] } {
  const items = new Map<string, Item>();
  const issues: Issue[] = [];
  for (const [index, value] of values.entries()) {
    const id = isRecord(value) && typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : null;
    const parsed = schema.safeParse(value);
    if (!parsed.success) issues.push(...schemaProblems(parsed.error, [kind, id ?? String(index)]));
    if (id === null) continue;
    if (items.has(id)) issues.push(problem([kind, id], `Id "${id}" occurs more than once in ${kind}; ids must be unique`));
    else items.set(id, { ...(value as Record<string, unknown>), id });
  }
  return { items: [...items.values()], issues };
}
