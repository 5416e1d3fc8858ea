import type { JsonSchema, OpenApiDocument, Operation } from './operations.ts';
import type { ToolDescription } from './tools.ts';

const componentPrefix = '#/components/schemas/';

const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'A name of your choice for this call. The same call with the same key, sent again within 24 hours, is done once.',
};

/** The argument that is sent as the header Idempotency-Key. */
export const idempotencyArgument = 'idempotency_key';

/**
 * The JSON Schema of a tool's arguments: path and query parameters and the fields of the body, side by side. Throws an Error when two of
 * them share a name, or the body is no object: such an operation cannot be a tool.
 */
export function toInputSchema(document: OpenApiDocument, operation: Operation, { fixed = {}, isReading }: ToolDescription): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const add = (name: string, schema: JsonSchema, isRequired: boolean) => {
    if (name in properties) throw new Error(`${operation.method} ${operation.path} has two arguments named ${name}`);
    properties[name] = schema;
    if (isRequired) required.push(name);
  };
  for (const { name, description, schema, isRequired } of operation.parameters)
    add(name, description === undefined ? schema : { ...schema, description }, isRequired);
  const body = operation.body && objectSchema(document, operation.body);
  for (const [name, schema] of Object.entries(body?.properties ?? {}))
    if (!(name in fixed)) add(name, schema, body?.required?.includes(name) ?? false);
  if (operation.method !== 'GET' && !isReading) add(idempotencyArgument, idempotencyKey, false);
  const definitions = new Map<string, unknown>();
  const localized = inlineReferences(properties, document, definitions);
  return {
    type: 'object',
    properties: localized,
    ...(required.length ? { required } : {}),
    ...(definitions.size ? { $defs: Object.fromEntries(definitions) } : {}),
  };
}

interface ObjectSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

function objectSchema(document: OpenApiDocument, schema: JsonSchema): ObjectSchema {
  const resolved = typeof schema.$ref === 'string' ? resolveReference(document, schema.$ref) : schema;
  if (Array.isArray(resolved.allOf)) {
    const parts = (resolved.allOf as JsonSchema[]).map((part) => objectSchema(document, part));
    return {
      properties: Object.assign({}, ...parts.map((part) => part.properties)) as Record<string, JsonSchema>,
      required: parts.flatMap((part) => part.required ?? []),
    };
  }
  if (resolved.type !== 'object') throw new Error('The body of a tool must be an object');
  return resolved;
}

function resolveReference(document: OpenApiDocument, reference: string): JsonSchema {
  const found = document.components?.schemas?.[reference.slice(componentPrefix.length)];
  if (!found) throw new Error(`The OpenAPI document has no ${reference}`);
  return found as JsonSchema;
}

/** Replaces references into the document by references into `$defs`, and collects the referenced schemas in `definitions`. */
function inlineReferences(value: unknown, document: OpenApiDocument, definitions: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => inlineReferences(item, document, definitions));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== '$ref' || typeof inner !== 'string' || !inner.startsWith(componentPrefix))
        return [key, inlineReferences(inner, document, definitions)];
      const name = inner.slice(componentPrefix.length);
      if (!definitions.has(name)) {
        definitions.set(name, {});
        definitions.set(name, inlineReferences(resolveReference(document, inner), document, definitions));
      }
      return [key, `#/$defs/${name}`];
    }),
  );
}
