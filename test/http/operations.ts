import { createApp } from '../../src/app.ts';
import { publishedDocument } from '../../src/openapi/published-document.ts';

interface Parameter {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  schema: Record<string, unknown>;
}

export interface Operation {
  method: string;
  /** The path with `{placeholders}`, below the base path. */
  path: string;
  parameters: Parameter[];
  details: Record<string, any>;
}

/** The OpenAPI document as it is sent. */
export const document = JSON.parse(JSON.stringify(publishedDocument(createApp())));

export const operations: Operation[] = Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, details]) => ({
    method: method.toUpperCase(),
    path: path.replace(/^\/api\/v1/, ''),
    parameters: details.parameters ?? [],
    details,
  })),
);

/** The path with something in every placeholder. */
export const filled = (path: string, value: string | number = 999_999_999): string => path.replaceAll(/\{\w+\}/g, String(value));
