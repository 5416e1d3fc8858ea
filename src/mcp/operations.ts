import type { OpenAPIHono } from '@hono/zod-openapi';

export type OpenApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;
export type JsonSchema = Record<string, unknown>;

interface Parameter {
  name: string;
  in: 'path' | 'query';
  description: string | undefined;
  isRequired: boolean;
  schema: JsonSchema;
}

/** The parameters and the body of an operation, from the OpenAPI document, which is generated from the schemas that validate requests. */
export interface Operation {
  method: string;
  /** With `{parameters}` and the base path. */
  path: string;
  parameters: Parameter[];
  /** The schema of the JSON body. */
  body: JsonSchema | undefined;
}

/** Finds an operation by `name`, a method and a path without the base path. Throws an Error for an unknown operation. */
export function findOperation(document: OpenApiDocument, name: string, basePath: string): Operation {
  const [method, path] = name.split(' ') as [string, string];
  const item = document.paths?.[`${basePath}${path}`] as Record<string, RawOperation> | undefined;
  const found = item?.[method.toLowerCase()];
  if (!found) throw new Error(`The OpenAPI document has no operation ${name}`);
  return {
    method,
    path: `${basePath}${path}`,
    parameters: (found.parameters ?? [])
      .filter((parameter) => parameter.in === 'path' || parameter.in === 'query')
      .map(({ name: parameterName, in: place, required, schema, description }) => ({
        name: parameterName,
        in: place as 'path' | 'query',
        description,
        isRequired: required === true,
        schema: schema ?? {},
      })),
    body: found.requestBody?.content?.['application/json']?.schema,
  };
}

interface RawOperation {
  parameters?: { name: string; in: string; required?: boolean; schema?: JsonSchema; description?: string }[];
  requestBody?: { content?: Record<string, { schema?: JsonSchema }> };
}
