import { z } from 'zod';
import type { Issue } from '../../library/errors.ts';
import { isDeeperThan, isRecord } from '../../library/json/json.ts';
import { findFaults } from '../../library/json/json-schema/validate.ts';
import { findReferenceFaults } from '../../library/json/json-schema/reference-limits.ts';
import { resolveReferences, type SchemaNode } from '../../library/json/json-schema/references.ts';
import { maxFaults } from '../../library/json/json-schema/visit.ts';
import { PatternError, patternProblem } from '../../library/patterns/linear-pattern.ts';
import { OverBudgetError, WorkBudget } from '../../library/limits/work-budget.ts';

export interface SchemaProblem {
  path: string[];
  message: string;
}

const maxSchemaDepth = 32;
const maxPatterns = 200;
const maxCheckSteps = 2_000_000;
const maxValidateSteps = 200_000;

/** All faults of `schema` as a JSON Schema 2020-12; empty: contexts can be validated with `schema`. */
export function checkSchema(schema: unknown): SchemaProblem[] {
  if (!isRecord(schema)) return [{ path: [], message: 'A schema is a JSON Schema object, such as { "type": "object" }' }];
  if (isDeeperThan(schema, maxSchemaDepth)) return [{ path: [], message: `A schema nests at most ${maxSchemaDepth} levels deep` }];
  const problems = shapeProblems(schema);
  if (problems.length > 0) return problems;
  const references = resolveReferences(schema);
  const faults = [...patternProblems(references.places), ...references.faults];
  return faults.length > 0 ? faults : findReferenceFaults(references);
}

const schemaRef = { $ref: '#/$defs/schema' };
const textSchema = { type: 'string' };
const uniqueTexts = { type: 'array', items: textSchema, uniqueItems: true };

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** The schema of each keyword's value. */
const keywords: [unknown, string[]][] = [
  [textSchema, ['$id', '$schema', '$ref', '$anchor', '$comment', 'pattern', 'format', 'title', 'description']],
  [{ type: 'boolean' }, ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly']],
  [{ type: 'number' }, ['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum']],
  [{ type: 'number', exclusiveMinimum: 0 }, ['multipleOf']],
  [
    { type: 'integer', minimum: 0 },
    ['maxLength', 'minLength', 'maxItems', 'minItems', 'maxContains', 'minContains', 'maxProperties', 'minProperties'],
  ],
  [{ type: 'array' }, ['enum', 'examples']],
  [uniqueTexts, ['required']],
  [{ type: 'object', additionalProperties: uniqueTexts }, ['dependentRequired']],
  [{ anyOf: [{ enum: typeNames }, { type: 'array', items: { enum: typeNames }, minItems: 1, uniqueItems: true }] }, ['type']],
  [schemaRef, ['items', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties']],
  [schemaRef, ['if', 'then', 'else', 'not']],
  [{ type: 'array', minItems: 1, items: schemaRef }, ['prefixItems', 'allOf', 'anyOf', 'oneOf']],
  [{ type: 'object', additionalProperties: schemaRef }, ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas']],
];

/**
 * The keywords of JSON Schema 2020-12 in one schema. The published meta-schema joins several vocabularies by dynamic references, which the
 * validator cannot follow. Both allow unknown keywords.
 */
const metaSchema = {
  $ref: '#/$defs/schema',
  $defs: {
    schema: {
      type: ['object', 'boolean'],
      properties: Object.fromEntries(keywords.flatMap(([valueSchema, names]) => names.map((keyword) => [keyword, valueSchema]))),
    },
  },
};

const metaSchemaReferences = resolveReferences(metaSchema);

/** Keywords whose values have the wrong form. */
function shapeProblems(schema: Record<string, unknown>): SchemaProblem[] {
  try {
    const faults = findFaults(metaSchema, metaSchemaReferences, schema, new WorkBudget(maxCheckSteps, 'make it smaller'));
    return faults.map(({ path, message, keyword }) => ({
      path,
      message: path.at(-1) === 'type' && keyword === 'anyOf' ? `Must be one of ${typeNames.join(', ')}, or an array of these` : message,
    }));
  } catch (error) {
    if (error instanceof OverBudgetError) return [{ path: [], message: `Checking the schema ${error.message}` }];
    throw error;
  }
}

function patternProblems(places: SchemaNode[]): SchemaProblem[] {
  const patterns = places.flatMap(({ path, node }) => {
    const keys = isRecord(node['patternProperties']) ? Object.keys(node['patternProperties']) : [];
    const pattern = typeof node['pattern'] === 'string' ? [{ at: [...path, 'pattern'], text: node['pattern'] }] : [];
    return [...pattern, ...keys.map((key) => ({ at: [...path, 'patternProperties', key], text: key }))];
  });
  if (patterns.length > maxPatterns) return [{ path: patterns[maxPatterns]!.at, message: `A schema has at most ${maxPatterns} patterns` }];
  return patterns.flatMap(({ at, text }) => {
    const message = patternProblem(text);
    return message ? [{ path: at, message }] : [];
  });
}

/**
 * All faults of `context` by `schema`, one issue a value. Two faults of the schema itself are one issue at `locPrefix`: a schema that was
 * stored under older, laxer rules and cannot be applied, and a schema that takes too many steps.
 */
export function validateContext(schema: object, context: unknown, locPrefix: string[] = ['body', 'context']): Issue[] {
  const unusable = (msg: string): Issue[] => [{ loc: locPrefix, msg, type: 'context_schema' }];
  const references = resolveReferences(schema as Record<string, unknown>);
  const [fault] = references.faults;
  if (fault) return unusable(`The schema cannot be used, correct it at ${fault.path.join('.')}: ${fault.message}`);
  try {
    const advice = 'ask for less with uniqueItems, pattern and references, or send fewer values';
    const budget = new WorkBudget(maxValidateSteps, advice);
    const faults = findFaults(schema as Record<string, unknown>, references, context, budget);
    return dedupeIssues(faults.map(({ path, message, keyword }) => ({ loc: [...locPrefix, ...path], msg: message, type: keyword })));
  } catch (error) {
    if (error instanceof OverBudgetError) return unusable(`The schema ${error.message}`);
    if (error instanceof PatternError) return unusable(`The schema cannot be used, correct it: ${error.message}`);
    throw error;
  }
}

/** One sentence when there are more faults than the `listed` ones, else nothing. The validator stops counting at `maxFaults`. */
export function omittedFaultsNote(count: number, listed: number): string[] {
  if (count <= listed) return [];
  return [`and ${count >= maxFaults ? 'at least ' : ''}${count - listed} more`];
}

/** Several parts of a schema may report the same fault of a value. */
function dedupeIssues(issues: Issue[]): Issue[] {
  const seen = new Set<string>();
  return issues.filter(({ loc, msg }) => {
    const key = JSON.stringify([loc, msg]);
    return !seen.has(key) && seen.add(key);
  });
}

/** A JSON Schema 2020-12 object in a request body. */
export const ContextSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  for (const { path, message } of checkSchema(schema)) context.addIssue({ code: 'custom', path, message });
});
