import { ucs2length, validate } from '@cfworker/json-schema';
import { isRecord } from '../json.ts';
import { stepsToRead, stepsToVisit } from '../../limits/work-budget.ts';
import { quoteValue } from './faults.ts';
import { matchesFormat } from './formats.ts';
import { addFault, compilePattern, type Visit } from './visit.ts';

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function checkType(visit: Visit): boolean {
  const { type } = visit.schema;
  if (type === undefined) return true;
  const names = Array.isArray(type) ? (type as unknown[]) : [type];
  const actual = jsonTypeOf(visit.value);
  const fits = names.some((name) => name === actual || (name === 'integer' && Number.isInteger(visit.value)));
  return fits || addFault(visit, 'type', `Must be ${names.join(' or ')}, not ${actual}`);
}

export function checkConstants(visit: Visit): boolean {
  const { schema, value } = visit;
  let fits = true;
  if (schema['const'] !== undefined && !isEqual(visit, schema['const']))
    fits = addFault(visit, 'const', `Instance does not match ${quoteValue(schema['const'])}.`);
  if (Array.isArray(schema['enum']) && !isListed(visit, schema['enum'], value))
    fits = addFault(visit, 'enum', `Instance does not match any of ${quoteValue(schema['enum'])}.`);
  return fits;
}

const enumSets = new WeakMap<object, Set<unknown>>();

function isListed(visit: Visit, options: unknown[], value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return options.some((option) => isEqual(visit, option));
  const scalars = enumSets.get(options) ?? new Set(options);
  enumSets.set(options, scalars);
  return scalars.has(value);
}

function isEqual({ value, run }: Visit, other: unknown): boolean {
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null) return value === other;
  run.budget.spend(stepsToVisit(other));
  return toCanonicalJson(value) === toCanonicalJson(other);
}

/** A text that is the same for equal values, in any order of their keys. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key])}`).join(',')}}`;
}

const numberKeywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

export function checkNumber(visit: Visit): boolean {
  const { schema, value, run } = visit;
  const asked = numberKeywords.filter((key) => schema[key] !== undefined);
  if (typeof value !== 'number' || asked.length === 0) return true;
  run.budget.spend(10);
  const { errors } = validate(value, Object.fromEntries(asked.map((key) => [key, schema[key]])), '2020-12', {});
  for (const { keyword, error } of errors) addFault(visit, keyword, error);
  return errors.length === 0;
}

export function checkText(visit: Visit): boolean {
  const { schema, value, run } = visit;
  if (typeof value !== 'string') return true;
  const { minLength, maxLength, pattern, format } = schema;
  let fits = true;
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    run.budget.spend(stepsToRead(value));
    const length = ucs2length(value);
    if (typeof minLength === 'number' && length < minLength)
      fits = addFault(visit, 'minLength', `String is too short (${length} < ${minLength}).`);
    if (typeof maxLength === 'number' && length > maxLength)
      fits = addFault(visit, 'maxLength', `String is too long (${length} > ${maxLength}).`);
  }
  if (typeof pattern === 'string' && !compilePattern(pattern, run).test(value, run.budget))
    fits = addFault(visit, 'pattern', 'String does not match pattern.');
  if (typeof format === 'string' && !matchesFormat(value, format, run.budget))
    fits = addFault(visit, 'format', `String does not match format "${format}".`);
  return fits;
}
