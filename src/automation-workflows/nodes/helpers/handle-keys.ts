import { z } from 'zod';
import { isRecord } from '../../../library/json/json.ts';

/** A handle named by the author of the graph. */
export const handleKeySchema = z.string().min(1).max(100);

/** The `key`s of a list in data that may not be valid yet. */
export const collectKeys = (items: unknown): string[] =>
  (Array.isArray(items) ? items : []).flatMap((item) => (isRecord(item) && typeof item['key'] === 'string' ? [item['key']] : []));

/** Reports every key that occurs before in the list, or that is reserved. */
export function checkKeys(items: readonly { key: string }[], reserved: readonly string[], context: z.core.$RefinementCtx): void {
  const seen = new Set(reserved);
  for (const [index, { key }] of items.entries()) {
    const message = reserved.includes(key) ? `Key "${key}" is reserved; choose another` : `Key "${key}" occurs twice; keys must be unique`;
    if (seen.has(key)) context.addIssue({ code: 'custom', path: [index, 'key'], message, input: key });
    seen.add(key);
  }
}
