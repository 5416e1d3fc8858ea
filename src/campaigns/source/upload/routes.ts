import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse } from '../../../http/router.ts';
import { UploadReceipt } from '../../schemas.ts';
import { receiveUpload } from './upload.ts';

const errors = errorResponses(403, 413);
const uploadRoute = createRoute({
  method: 'put',
  path: '/uploads/campaigns/{organization_id}/{source_id}',
  operationId: 'campaigns.upload',
  summary: 'Upload a CSV or .xlsx file to the URL that POST /campaign/upload-url gave',
  security: [],
  request: {
    // Any change of the URL answers 403, so the signature is checked before all else.
    params: z.object({ organization_id: z.string(), source_id: z.string() }),
    query: z.object({
      filename: z.string().optional(),
      max_bytes: z.string().optional(),
      expires: z.string().optional(),
      signature: z.string().optional(),
    }),
    body: {
      description: 'Delimited text in any encoding, or an .xlsx workbook. The content decides which; its Content-Type does not matter.',
      content: { 'text/csv': { schema: z.string() } },
    },
  },
  responses: {
    200: jsonResponse(UploadReceipt),
    ...errors,
    411: { ...errors[413]!, description: 'Content-Length is missing' },
  },
});

/** Open without credentials: mounted before authentication, since the URL's own signature says who may use it. */
export const campaignUploadRoutes = createRouter().openapi(uploadRoute, async (c) => {
  const { organization_id, source_id } = c.req.valid('param');
  const upload = { organizationId: Number(organization_id), sourceId: source_id, request: c.req.raw };
  return c.json(await receiveUpload({ bindings: c.env, signingKey: c.var.settings.SIGNING_KEY, now: Date.now() }, upload), 200);
});
