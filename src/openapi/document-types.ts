/** The parts of an OpenAPI document that are changed after it has been made from the routes. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, unknown>;
  webhooks?: unknown;
}

export interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  /** The scope that an API key needs. */
  'x-scope'?: string;
  'x-roles'?: string[];
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content?: Content };
  responses: Record<string, Response>;
}

interface Parameter {
  name?: string;
  in?: string;
  $ref?: string;
  description?: string;
  schema?: { description?: string };
  example?: unknown;
  examples?: Record<string, Example>;
}

export interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Content;
  links?: Record<string, unknown>;
}

type Content = Record<string, { schema?: unknown; example?: unknown; examples?: Record<string, Example> }>;

export interface Example {
  summary?: string;
  value: unknown;
}

export const listOperations = (document: Document): Operation[] =>
  Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** The successful response. Each operation has one. */
export const successResponseOf = ({ responses }: Operation): Response | undefined =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
