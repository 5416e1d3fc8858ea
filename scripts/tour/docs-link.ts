/** The part of an OpenAPI document that says where the page at /docs shows an operation. */
export interface ApiDocument {
  paths: Record<string, Record<string, { operationId?: string; summary?: string }>>;
}

const basePath = '/api/v1';

/** `/docs/#events.create` of an operation such as `POST /events`, or undefined when the document has no such operation. */
export function docsPath(document: ApiDocument, operation: string): string | undefined {
  const [method = '', path = ''] = operation.split(' ');
  const fullPath = path.startsWith(basePath) ? path : basePath + path;
  const id = document.paths[fullPath]?.[method.toLowerCase()]?.operationId;
  return id === undefined ? undefined : `/docs/#${id}`;
}
