import { isDeepStrictEqual } from 'node:util';
import { textFields, type ContactChange, type ContactValues } from './contact.ts';

/** The contact after `change`. */
export function applyChange<Values extends ContactValues>(before: Values, change: ContactChange): Values {
  const after: Values = { ...before };
  for (const field of textFields) if (change[field] !== undefined) after[field] = change[field];
  after.tags = mergeTags(before.tags, change);
  if (change.custom_fields === null) after.custom_fields = {};
  else if (change.custom_fields) after.custom_fields = mergeFields(before.custom_fields, change.custom_fields);
  return after;
}

function mergeTags(before: string[], { tags, add_tags = [], remove_tags = [] }: ContactChange): string[] {
  if (!tags && !add_tags.length && !remove_tags.length) return before;
  const removed = new Set(remove_tags);
  return [...new Set([...(tags ?? before), ...add_tags])].filter((tag) => !removed.has(tag));
}

/** Merges key by key: a new value replaces the old one completely, null removes the key. */
function mergeFields(before: Record<string, unknown>, changes: Record<string, unknown>): Record<string, unknown> {
  const merged = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

/** The fields in which two states of a contact differ. The order of custom fields does not count. */
export function findChangedFields(before: ContactValues, after: ContactValues): (keyof ContactValues)[] {
  const changed: (keyof ContactValues)[] = textFields.filter((field) => before[field] !== after[field]);
  for (const field of ['tags', 'custom_fields'] as const)
    if (before[field] !== after[field] && !isDeepStrictEqual(before[field], after[field])) changed.push(field);
  return changed;
}
