import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse } from '../../http/router.ts';
import { UploadReceipt } from '../documents/schemas.ts';
import { receiveUpload } from './receive-upload.ts';

const errors = errorResponses(403, 409, 413);
const uploadRoute = createRoute({
  method: 'put',
  path: '/uploads/knowledge-base/{organization_id}/{document_uuid}',
  operationId: 'knowledgeBase.upload',
  summary: 'Upload a document to the URL that POST /knowledge-base/upload-url gave',
  security: [],
  request: {
    // Any change of the URL is a 403, so the signature is checked before the parameters.
    params: z.object({ organization_id: z.string(), document_uuid: z.string() }),
    query: z.object({ max_bytes: z.string().optional(), expires: z.string().optional(), signature: z.string().optional() }),
    body: { content: { 'application/octet-stream': { schema: z.string() } } },
  },
  responses: {
    200: jsonResponse(UploadReceipt),
    ...errors,
    411: { ...errors[413]!, description: 'Content-Length is missing' },
  },
});

/** Mounted before authentication: the signature of the URL is the permission. */
export const documentUploadRoutes = createRouter().openapi(uploadRoute, async (c) => {
  const { organization_id, document_uuid } = c.req.valid('param');
  const upload = { organizationId: Number(organization_id), uuid: document_uuid, request: c.req.raw };
  const defer = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  return c.json(await receiveUpload({ bindings: c.env, signingKey: c.var.settings.SIGNING_KEY, now: Date.now(), defer }, upload), 200);
});
