import { z } from 'zod';
import { isRecord } from '../../../library/json/json.ts';

/** The name of a handle that the author of the graph chooses. */
export const handleKeySchema = z.string().min(1).max(100);

/** The `key` of each item; `items` may be invalid. */
export const collectKeys = (items: unknown): string[] =>
  (Array.isArray(items) ? items : []).flatMap((item) => (isRecord(item) && typeof item['key'] === 'string' ? [item['key']] : []));

/** Adds an issue for every key that is reserved or stands earlier in the list. */
export function checkKeys(items: readonly { key: string }[], reserved: readonly string[], context: z.core.$RefinementCtx): void {
  const seen = new Set(reserved);
  for (const [index, { key }] of items.entries()) {
    const message = reserved.includes(key) ? `Key "${key}" is reserved; choose another` : `Key "${key}" occurs twice; keys must be unique`;
    if (seen.has(key)) context.addIssue({ code: 'custom', path: [index, 'key'], message, input: key });
    seen.add(key);
  }
}
