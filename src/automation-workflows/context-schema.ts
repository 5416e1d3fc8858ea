import { dereference, Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import { z } from 'zod';
import type { Issue } from '../library/errors.ts';
import { isDeeperThan, isRecord } from '../library/json.ts';
import { metaSchema, typeNames } from './json-schema-meta.ts';
import { patternProblem } from './pattern-safety.ts';

export interface SchemaProblem {
  path: string[];
  message: string;
}

const draft = '2020-12';
const maximumSchemaDepth = 32;

/** What is wrong with `schema` as a JSON Schema 2020-12; empty: it can be validated with. */
export function checkSchema(schema: unknown): SchemaProblem[] {
  if (!isRecord(schema)) return [{ path: [], message: 'A schema is a JSON Schema object, such as { "type": "object" }' }];
  if (isDeeperThan(schema, maximumSchemaDepth)) return [{ path: [], message: `A schema nests at most ${maximumSchemaDepth} levels deep` }];
  const problems = leavesOf(new Validator(metaSchema as Schema, draft, false).validate(schema).errors).map(
    ({ path, message, keyword }) => ({
      path,
      message: path.at(-1) === 'type' && keyword === 'anyOf' ? `Must be one of ${typeNames.join(', ')}, or an array of these` : message,
    }),
  );
  if (problems.length > 0) return problems;
  const visited = [...subschemas(schema, [])];
  return [...visited.flatMap(({ path, node }) => patternProblems(path, node)), ...referenceProblems(schema, visited)];
}

interface Visited {
  path: string[];
  node: Record<string, unknown>;
}

/** Every object inside the schema; keywords in examples and constants are looked at too, which only makes the check stricter. */
function* subschemas(node: unknown, path: string[]): Generator<Visited> {
  if (isRecord(node)) yield { path, node };
  if (typeof node === 'object' && node !== null) for (const [key, child] of Object.entries(node)) yield* subschemas(child, [...path, key]);
}

function patternProblems(path: string[], node: Record<string, unknown>): SchemaProblem[] {
  const keys = isRecord(node['patternProperties']) ? Object.keys(node['patternProperties']) : [];
  const pattern = typeof node['pattern'] === 'string' ? [{ at: [...path, 'pattern'], text: node['pattern'] }] : [];
  return [...pattern, ...keys.map((key) => ({ at: [...path, 'patternProperties', key], text: key }))].flatMap(({ at, text }) => {
    const message = patternProblem(text);
    return message ? [{ path: at, message }] : [];
  });
}

/** References that lead nowhere, outside, or to themselves. */
function referenceProblems(schema: Record<string, unknown>, visited: Visited[]): SchemaProblem[] {
  const references = visited.filter(({ node }) => typeof node['$ref'] === 'string');
  if (references.length === 0) return [];
  const copy = structuredClone(schema) as Schema;
  const known = dereference(copy);
  const unresolved = [...subschemas(copy, [])].filter(
    ({ node }) => typeof node['__absolute_ref__'] === 'string' && !known[node['__absolute_ref__']],
  );
  if (unresolved.length > 0)
    return unresolved.map(({ path, node }) => ({
      path: [...path, '$ref'],
      message: `"${String(node['$ref'])}" leads to no schema in this document; use #/$defs/<name>`,
    }));
  const isEndless = ['', 0, true, null, {}, []].some((sample) => validateSafely(schema, sample) === null);
  return isEndless ? [{ path: [...references[0]!.path, '$ref'], message: 'The schema refers to itself without end' }] : [];
}

const notUnicode: OutputUnit = {
  keyword: 'unicode',
  keywordLocation: '#',
  instanceLocation: '#',
  error: 'Holds a key that is not well-formed Unicode',
};

/** The errors, or null when the schema refers to itself without end. */
function validateSafely(schema: unknown, value: unknown): OutputUnit[] | null {
  try {
    return new Validator(structuredClone(schema) as Schema, draft, false).validate(value).errors;
  } catch (error) {
    if (error instanceof RangeError) return null;
    if (error instanceof URIError) return [notUnicode];
    throw error;
  }
}

/** Everything in `context` that does not fit `schema` (one that `checkSchema` passed), one issue for each value at fault. */
export function validateContext(schema: object, context: unknown, locPrefix: string[] = ['body', 'context']): Issue[] {
  const errors = validateSafely(schema, context);
  if (errors === null) return [{ loc: locPrefix, msg: 'The schema refers to itself without end', type: 'context_schema' }];
  return leavesOf(errors).map(({ path, message, keyword }) => ({ loc: [...locPrefix, ...path], msg: message, type: keyword }));
}

/** Keywords that only report that something below them failed. */
const passOn = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords that speak for the alternatives below them. */
const speakFor = new Set(['anyOf', 'oneOf', 'not', 'contains', 'propertyNames']);

function leavesOf(errors: OutputUnit[]): (SchemaProblem & { keyword: string })[] {
  const speakers = errors.filter((error) => speakFor.has(error.keyword)).map((error) => `${error.keywordLocation}/`);
  const seen = new Set<string>();
  return errors
    .filter((error) => !passOn.has(error.keyword) && !speakers.some((speaker) => error.keywordLocation.startsWith(speaker)))
    .map((error) => ({ path: pathOf(error), message: messageOf(error), keyword: error.keyword }))
    .filter(({ path, message }) => !seen.has(JSON.stringify([path, message])) && seen.add(JSON.stringify([path, message])));
}

const missingProperty = /^Instance does not have required property "(.*)"\.$/s;

function pathOf({ instanceLocation, error, keyword }: OutputUnit): string[] {
  const path = instanceLocation
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = keyword === 'required' ? missingProperty.exec(error)?.[1] : undefined;
  return missing === undefined ? path : [...path, missing];
}

const wrongType = /^Instance type "(.*)" is invalid\. Expected "(.*)"\.$/s;

function messageOf({ error, keyword }: OutputUnit): string {
  if (keyword === 'required') return 'Field required';
  if (keyword === 'false') return 'This field is not allowed here';
  return error.replace(wrongType, (_, actual: string, expected: string) => `Must be ${expected.replaceAll('", "', ' or ')}, not ${actual}`);
}

/** A JSON Schema 2020-12 object in a request body. */
export const ContextSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  for (const { path, message } of checkSchema(schema)) context.addIssue({ code: 'custom', path, message });
});
