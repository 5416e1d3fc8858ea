/** Keywords by the form of their schemas, and by whether those apply to the value itself or to values inside it. */
export const appliedToItself = {
  one: ['not', 'if', 'then', 'else'],
  many: ['allOf', 'anyOf', 'oneOf'],
  named: ['dependentSchemas', 'dependencies'],
};
export const appliedInside = {
  one: ['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'items', 'unevaluatedItems', 'contains'],
  many: ['prefixItems'],
  named: ['properties', 'patternProperties'],
};
/** Schemas that others refer to. */
export const definitionKeywords = ['$defs', 'definitions'];

/** Keywords whose values are data, not schemas. */
export const dataKeywords = new Set(['enum', 'const', 'default', 'examples']);
