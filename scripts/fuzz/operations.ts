import document from '../../openapi.json' with { type: 'json' };

interface Holder {
  name: string;
  in: string;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Described {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: Holder[];
  requestBody?: { content: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

export interface Operation {
  id: string;
  method: string;
  /** The path from the root, with `{placeholders}`. */
  path: string;
  query: { name: string; examples: unknown[] }[];
  /** Valid example bodies; empty: the operation has no body. */
  bodies: unknown[];
  contentType: string;
  /** Content types that its good answers may have. */
  answers: string[];
  takesKey: boolean;
}

const readExamples = ({ example, examples }: Pick<Holder, 'example' | 'examples'>): unknown[] =>
  examples ? Object.values(examples).map(({ value }) => value) : example === undefined ? [] : [example];

/** All operations of the OpenAPI document. */
export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, Described>).map(([method, described]) => {
    const [[contentType, media] = ['', {}]] = Object.entries(described.requestBody?.content ?? {});
    const good = Object.entries(described.responses).filter(([status]) => status.startsWith('2'));
    return {
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      query: (described.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map((parameter) => ({ name: parameter.name, examples: readExamples(parameter) })),
      bodies: contentType === '' ? [] : [...readExamples(media), ...(readExamples(media).length === 0 ? [{}] : [])],
      contentType,
      answers: good.flatMap(([, { content }]) => Object.keys(content ?? {})),
      takesKey: (described.security ?? [{ ApiKey: [] }]).some((one) => 'ApiKey' in one),
    };
  }),
);

export const findOperation = (id: string): Operation => {
  const found = operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`openapi.json has no operation ${id}`);
  return found;
};
