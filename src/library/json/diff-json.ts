import { isDeepStrictEqual } from 'node:util';
import { isRecord } from './json.ts';

/** One difference between two JSON values, at a JSON Pointer (RFC 6901). A list's item that has an `id` is named by it, and not by its place. */
export interface JsonChange {
  path: string;
  kind: 'added' | 'removed' | 'changed';
  before?: unknown;
  after?: unknown;
}

/** So deep the values are compared part by part; deeper parts are one change. */
const maxDepth = 100;

/**
 * The differences between two JSON values, in the order of the first, then what the second adds. Items of lists are matched by `id` where each has
 * one of its own, else by place: an item that has only moved is no difference. Takes time in proportion to the values.
 *
 * @example diffJson({ a: 1, b: [{ id: 'x', t: 1 }] }, { b: [{ id: 'x', t: 2 }], c: 3 })
 * // [{ path: '/a', kind: 'removed', before: 1 }, { path: '/b/x/t', kind: 'changed', before: 1, after: 2 }, { path: '/c', kind: 'added', after: 3 }]
 */
export function diffJson(before: unknown, after: unknown): JsonChange[] {
  const changes: JsonChange[] = [];
  compare(before, after, '', 0, changes);
  return changes;
}

function compare(before: unknown, after: unknown, path: string, depth: number, changes: JsonChange[]): void {
  const parts = depth < maxDepth ? toParts(before, after) : null;
  if (!parts) {
    if (!isDeepStrictEqual(before, after)) changes.push({ path, kind: 'changed', before, after });
    return;
  }
  const [earlier, later] = parts;
  for (const [name, value] of earlier) {
    const place = `${path}/${escapeName(name)}`;
    if (later.has(name)) compare(value, later.get(name), place, depth + 1, changes);
    else changes.push({ path: place, kind: 'removed', before: value });
  }
  for (const [name, value] of later)
    if (!earlier.has(name)) changes.push({ path: `${path}/${escapeName(name)}`, kind: 'added', after: value });
}

/** The parts of two objects, or of two lists, by name; null: they are compared as a whole. */
function toParts(before: unknown, after: unknown): [Map<string, unknown>, Map<string, unknown>] | null {
  if (Array.isArray(before) && Array.isArray(after)) {
    const toName =
      haveIds(before) && haveIds(after) ? (item: unknown) => (item as { id: string }).id : (_item: unknown, index: number) => String(index);
    const byName = (list: unknown[]) => new Map(list.map((item, index) => [toName(item, index), item]));
    return [byName(before), byName(after)];
  }
  if (isRecord(before) && isRecord(after)) return [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return null;
}

/** Whether each item of a list has an id of its own. */
function haveIds(list: unknown[]): boolean {
  const ids = new Set(list.map((item) => (isRecord(item) && typeof item['id'] === 'string' ? item['id'] : null)));
  return ids.size === list.length && !ids.has(null);
}

const escapeName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
