/** Keywords by what they hold, and whether that is applied to the value itself or to what is inside it. */
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

/** Keywords whose values are examples of data, in which nothing is a schema. */
export const dataKeywords = new Set(['enum', 'const', 'default', 'examples']);
