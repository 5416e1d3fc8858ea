import type { z } from 'zod';
import type { Issue } from '../errors.ts';
import { isRecord } from './json.ts';
import { toIssues } from './zod-issues.ts';

export interface IdentifiedItem {
  id: string;
  [key: string]: unknown;
}

/**
 * Checks each item of a list whose items have ids, such as the nodes of a graph. Returns all items with an id, except later ones with an id
 * that occurred before. Issues have a `loc` below `loc`, with the item's id or, without one, its position; the last part of `loc` names the
 * kind of the items.
 */
export function parseIdentifiedItems(values: unknown[], schema: z.ZodType, loc: string[]): { items: IdentifiedItem[]; issues: Issue[] } {
  const items = new Map<string, IdentifiedItem>();
  const issues: Issue[] = [];
  for (const [index, value] of values.entries()) {
    const id = isRecord(value) && typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : null;
    const parsed = schema.safeParse(value);
    if (!parsed.success) issues.push(...toIssues(parsed.error, [...loc, id ?? String(index)]));
    if (id === null) continue;
    const msg = `Id "${id}" occurs more than once in ${loc.at(-1)}; ids must be unique`;
    if (items.has(id)) issues.push({ loc: [...loc, id], msg, type: 'value_error' });
    else items.set(id, { ...(value as Record<string, unknown>), id });
  }
  return { items: [...items.values()], issues };
}
