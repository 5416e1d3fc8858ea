import { isRecord } from '../json.ts';
import type { Schema } from './references.ts';
import { newEvaluated, addFault, isPartValid, compilePattern, type Visit } from './visit.ts';

/** Checks an object against `properties`, `required` and the keywords like them. */
export function checkObject(visit: Visit): boolean {
  const { value, run } = visit;
  if (!isRecord(value)) return true;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  run.budget.spend(keys.length / 8);
  const counts = [checkRequired(visit, value), checkCounts(visit, keys.length), checkNames(visit, keys), checkDependencies(visit, value)];
  const parts = checkParts(visit, value, keys);
  return parts && counts.every(Boolean);
}

const hasProperty = (value: Record<string, unknown>, key: string): boolean => Object.hasOwn(value, key) && value[key] !== undefined;

function checkRequired(visit: Visit, value: Record<string, unknown>): boolean {
  const { required } = visit.schema;
  if (!Array.isArray(required)) return true;
  visit.run.budget.spend(required.length / 4);
  let fits = true;
  for (const key of required as string[]) if (!hasProperty(value, key)) fits = addFault(visit, 'required', 'Field required', key);
  return fits;
}

function checkCounts(visit: Visit, count: number): boolean {
  const { minProperties, maxProperties } = visit.schema;
  let fits = true;
  if (typeof minProperties === 'number' && count < minProperties)
    fits = addFault(visit, 'minProperties', `Instance does not have at least ${minProperties} properties.`);
  if (typeof maxProperties === 'number' && count > maxProperties)
    fits = addFault(visit, 'maxProperties', `Instance has more than ${maxProperties} properties.`);
  return fits;
}

function checkNames(visit: Visit, keys: string[]): boolean {
  const names = visit.schema['propertyNames'] as Schema | undefined;
  if (names === undefined) return true;
  let fits = true;
  for (const key of keys)
    if (!visit.run.isValid(names, { ...visit, value: key, faults: null, evaluated: newEvaluated(visit.run) }))
      fits = addFault(visit, 'propertyNames', `Property name "${key}" does not match schema.`);
  return fits;
}

function checkDependencies(visit: Visit, value: Record<string, unknown>): boolean {
  let fits = true;
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    const dependencies = visit.schema[keyword];
    if (!isRecord(dependencies)) continue;
    const entries = Object.entries(dependencies);
    visit.run.budget.spend(entries.length / 4);
    for (const [key, needed] of entries) {
      if (!hasProperty(value, key)) continue;
      if (Array.isArray(needed)) {
        visit.run.budget.spend(needed.length / 4);
        for (const other of needed as string[])
          if (!hasProperty(value, other)) fits = addFault(visit, keyword, `Instance has "${key}" but does not have "${other}".`);
      } else if (!visit.run.isValid(needed as Schema, visit)) {
        fits = false;
        if (keyword === 'dependencies') addFault(visit, keyword, `Instance has "${key}" but does not match dependant schema.`);
      }
    }
  }
  return fits;
}

/** Checks the properties: the named ones, those that match a pattern, and the others. */
function checkParts(visit: Visit, value: Record<string, unknown>, keys: string[]): boolean {
  const { schema, run, evaluated: spokenFor } = visit;
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const known = new Set<string>();
  let fits = true;
  const look = (key: string, of: Schema) => {
    if (isPartValid(visit, of, key, value[key])) spokenFor?.add(key);
    else fits = false;
  };
  if (isRecord(properties)) {
    const names = Object.keys(properties);
    run.budget.spend(names.length / 4);
    for (const key of names) {
      if (!hasProperty(value, key)) continue;
      known.add(key);
      look(key, properties[key] as Schema);
    }
  }
  if (isRecord(patternProperties))
    for (const [text, of] of Object.entries(patternProperties)) {
      const pattern = compilePattern(text, run);
      for (const key of keys) {
        if (!pattern.test(key, run.budget)) continue;
        known.add(key);
        look(key, of as Schema);
      }
    }
  if (additionalProperties !== undefined) {
    for (const key of keys) if (!known.has(key)) look(key, additionalProperties as Schema);
  } else if (unevaluatedProperties !== undefined) {
    for (const key of keys) if (!spokenFor?.has(key)) look(key, unevaluatedProperties as Schema);
  }
  return fits;
}
