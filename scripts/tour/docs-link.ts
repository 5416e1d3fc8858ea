/** The part of an OpenAPI document that says where Swagger UI shows an operation. */
export interface ApiDocument {
  paths: Record<string, Record<string, { tags?: string[]; operationId?: string; summary?: string }>>;
}

const basePath = '/api/v1';

/** `/docs/#/{tag}/{id}` of an operation such as `POST /events`, or undefined when the document has no such operation. */
export function docsPath(document: ApiDocument, operation: string): string | undefined {
  const [method = '', path = ''] = operation.split(' ');
  const fullPath = path.startsWith(basePath) ? path : basePath + path;
  const found = document.paths[fullPath]?.[method.toLowerCase()];
  if (found === undefined) return undefined;
  // What Swagger UI calls an operation without an operationId of its own.
  const id = (found.operationId ?? `${method.toLowerCase()}${fullPath}`).replace(/\W/g, '_');
  return `/docs/#/${found.tags?.[0] ?? 'default'}/${id}`;
}
