import type { OpenAPIHono } from '@hono/zod-openapi';
import type { HttpEnvironment } from '../http/environment.ts';
import { addExamples } from './add-examples.ts';
import { addLinks } from './add-links.ts';
import { describeWebhooks } from './describe-webhooks.ts';
import { describeErrors } from './describe-errors.ts';
import { openApiDocument } from './document.ts';
import type { Document } from './document-types.ts';

/**
 * The content of openapi.json: the document with examples and links. The Worker serves that file, so the Worker's code does not contain all
 * examples.
 */
export function publishedDocument(app: OpenAPIHono<HttpEnvironment>) {
  const document = openApiDocument(app);
  describeErrors(document as unknown as Document);
  addExamples(document as unknown as Document);
  addLinks(document as unknown as Document);
  (document as unknown as Document).webhooks = describeWebhooks();
  return document;
}
