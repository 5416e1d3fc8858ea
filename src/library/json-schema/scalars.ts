import { ucs2length, validate } from '@cfworker/json-schema';
import { isRecord } from '../json.ts';
import { stepsToRead, stepsToVisit } from '../work-budget.ts';
import { told } from './faults.ts';
import { isOfFormat } from './formats.ts';
import { fault, patternOf, type Visit } from './visit.ts';

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

export function checkType(visit: Visit): boolean {
  const { type } = visit.schema;
  if (type === undefined) return true;
  const names = Array.isArray(type) ? (type as unknown[]) : [type];
  const actual = typeOf(visit.value);
  const fits = names.some((name) => name === actual || (name === 'integer' && Number.isInteger(visit.value)));
  return fits || fault(visit, 'type', `Must be ${names.join(' or ')}, not ${actual}`);
}

export function checkConstants(visit: Visit): boolean {
  const { schema, value } = visit;
  let fits = true;
  if (schema['const'] !== undefined && !isSame(visit, schema['const']))
    fits = fault(visit, 'const', `Instance does not match ${told(schema['const'])}.`);
  if (Array.isArray(schema['enum']) && !isListed(visit, schema['enum'], value))
    fits = fault(visit, 'enum', `Instance does not match any of ${told(schema['enum'])}.`);
  return fits;
}

const listed = new WeakMap<object, Set<unknown>>();

function isListed(visit: Visit, options: unknown[], value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return options.some((option) => isSame(visit, option));
  const scalars = listed.get(options) ?? new Set(options);
  listed.set(options, scalars);
  return scalars.has(value);
}

function isSame({ value, run }: Visit, other: unknown): boolean {
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null) return value === other;
  run.budget.spend(stepsToVisit(other));
  return canonical(value) === canonical(other);
}

/** The same text for values that are equal whatever the order of their keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

const limits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

export function checkNumber(visit: Visit): boolean {
  const { schema, value, run } = visit;
  const asked = limits.filter((key) => schema[key] !== undefined);
  if (typeof value !== 'number' || asked.length === 0) return true;
  run.budget.spend(10);
  const { errors } = validate(value, Object.fromEntries(asked.map((key) => [key, schema[key]])), '2020-12', {});
  for (const { keyword, error } of errors) fault(visit, keyword, error);
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
      fits = fault(visit, 'minLength', `String is too short (${length} < ${minLength}).`);
    if (typeof maxLength === 'number' && length > maxLength)
      fits = fault(visit, 'maxLength', `String is too long (${length} > ${maxLength}).`);
  }
  if (typeof pattern === 'string' && !patternOf(pattern, run).test(value, run.budget))
    fits = fault(visit, 'pattern', 'String does not match pattern.');
  if (typeof format === 'string' && !isOfFormat(value, format, run.budget))
    fits = fault(visit, 'format', `String does not match format "${format}".`);
  return fits;
}
