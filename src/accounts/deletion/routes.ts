import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse } from '../../http/router.ts';
import { readDeletion } from './delete-organization.ts';
import { deletionRecord } from '../records.ts';
import { DeletionRecord } from '../schemas.ts';

const readRoute = createRoute({
  method: 'get',
  path: '/deletions/{deletion_id}',
  operationId: 'organization.getDeletion',
  summary: 'How far the deletion of an organization is',
  security: [],
  request: { params: z.object({ deletion_id: z.uuid('Must be the id that the deletion was answered with') }) },
  responses: { 200: jsonResponse(DeletionRecord), ...errorResponses(404) },
});

/** Needs no credentials, because those of the organization have ended. The id cannot be guessed. */
export const deletionRoutes = createRouter().openapi(readRoute, async (c) =>
  c.json(deletionRecord(await readDeletion(c.env, c.req.valid('param').deletion_id)), 200),
);
