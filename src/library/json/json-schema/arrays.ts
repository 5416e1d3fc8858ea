import { stepsToVisit } from '../../limits/work-budget.ts';
import type { Schema } from './references.ts';
import { toCanonicalJson } from './scalars.ts';
import { addFault, isPartValid, type Visit } from './visit.ts';

/** Checks an array against `items`, `contains` and the keywords like them. */
export function checkArray(visit: Visit): boolean {
  const { value } = visit;
  if (!Array.isArray(value)) return true;
  const checks = [checkCounts(visit, value.length), checkItems(visit, value), checkContains(visit, value), checkUnevaluated(visit, value)];
  return checks.every(Boolean) && checkUnique(visit, value);
}

function checkCounts(visit: Visit, length: number): boolean {
  const { minItems, maxItems } = visit.schema;
  let fits = true;
  if (typeof maxItems === 'number' && length > maxItems)
    fits = addFault(visit, 'maxItems', `Array has too many items (${length} > ${maxItems}).`);
  if (typeof minItems === 'number' && length < minItems)
    fits = addFault(visit, 'minItems', `Array has too few items (${length} < ${minItems}).`);
  return fits;
}

/** The schema of each item by position: those of `prefixItems`, then `items` for the rest. In older drafts both are called `items`. */
function itemSchemas({ prefixItems, items, additionalItems }: Record<string, unknown>): { first: Schema[]; rest: Schema | undefined } {
  const first = Array.isArray(prefixItems) ? (prefixItems as Schema[]) : [];
  if (!Array.isArray(items)) return { first, rest: items as Schema | undefined };
  return { first: [...first, ...(items as Schema[]).slice(first.length)], rest: additionalItems as Schema | undefined };
}

function checkItems(visit: Visit, value: unknown[]): boolean {
  const { first, rest } = itemSchemas(visit.schema);
  let fits = true;
  for (let index = 0; index < value.length; index++) {
    const of = index < first.length ? first[index] : rest;
    if (of === undefined) break;
    visit.evaluated?.add(String(index));
    if (!isPartValid(visit, of, String(index), value[index])) fits = false;
  }
  return fits;
}

function checkContains(visit: Visit, value: unknown[]): boolean {
  const { contains, minContains, maxContains } = visit.schema;
  if (contains === undefined) return true;
  if (value.length === 0 && minContains === undefined)
    return addFault(visit, 'contains', 'Array is empty. It must contain at least one item matching the schema.');
  if (typeof minContains === 'number' && value.length < minContains)
    return addFault(visit, 'minContains', `Array has less items (${value.length}) than minContains (${minContains}).`);
  let contained = 0;
  for (const [index, item] of value.entries()) {
    if (!isPartValid(visit, contains as Schema, String(index), item, null)) continue;
    visit.evaluated?.add(String(index));
    contained++;
  }
  if (minContains === undefined && contained === 0) return addFault(visit, 'contains', 'Array does not contain item matching schema.');
  if (typeof minContains === 'number' && contained < minContains)
    return addFault(
      visit,
      'minContains',
      `Array must contain at least ${minContains} items matching schema. Only ${contained} items were found.`,
    );
  if (typeof maxContains === 'number' && contained > maxContains)
    return addFault(visit, 'maxContains', `Array may contain at most ${maxContains} items matching schema. ${contained} items were found.`);
  return true;
}

function checkUnevaluated(visit: Visit, value: unknown[]): boolean {
  const of = visit.schema['unevaluatedItems'] as Schema | undefined;
  if (of === undefined) return true;
  let fits = true;
  for (const [index, item] of value.entries()) {
    if (visit.evaluated?.has(String(index))) continue;
    visit.evaluated?.add(String(index));
    if (!isPartValid(visit, of, String(index), item)) fits = false;
  }
  return fits;
}

function checkUnique(visit: Visit, value: unknown[]): boolean {
  if (visit.schema['uniqueItems'] !== true) return true;
  visit.run.budget.spend(stepsToVisit(value) * 2);
  const places = new Map<string, number[]>();
  for (const [index, item] of value.entries()) {
    const text = toCanonicalJson(item);
    const before = places.get(text);
    if (before) before.push(index);
    else places.set(text, [index]);
  }
  for (const [first, second] of places.values())
    if (second !== undefined) return addFault(visit, 'uniqueItems', `Duplicate items at indexes ${first!} and ${second}.`);
  return true;
}
