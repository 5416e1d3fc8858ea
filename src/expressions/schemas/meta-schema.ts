const schema = { $ref: '#/$defs/schema' };
const text = { type: 'string' };
const uniqueTexts = { type: 'array', items: text, uniqueItems: true };

export const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** What each keyword must hold. */
const keywords: [unknown, string[]][] = [
  [text, ['$id', '$schema', '$ref', '$anchor', '$comment', 'pattern', 'format', 'title', 'description']],
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
  [schema, ['items', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties']],
  [schema, ['if', 'then', 'else', 'not']],
  [{ type: 'array', minItems: 1, items: schema }, ['prefixItems', 'allOf', 'anyOf', 'oneOf']],
  [{ type: 'object', additionalProperties: schema }, ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas']],
];

/**
 * The keywords of JSON Schema 2020-12 in one schema: the published meta-schema is spread over vocabularies joined by dynamic references,
 * which the validator cannot follow. Unknown keywords are allowed, as there.
 */
export const metaSchema = {
  $ref: '#/$defs/schema',
  $defs: {
    schema: {
      type: ['object', 'boolean'],
      properties: Object.fromEntries(keywords.flatMap(([kind, of]) => of.map((keyword) => [keyword, kind]))),
    },
  },
};
