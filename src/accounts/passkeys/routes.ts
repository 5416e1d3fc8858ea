import { createRoute, z } from '@hono/zod-openapi';
import { catalog } from '../../database/shards.ts';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { systemClock } from '../../library/time/clock.ts';
import { requireSession } from '../sign-in/require-session.ts';
import { addPasskey, deletePasskey, passkeyRecord, startPasskey } from './manage-passkeys.ts';
import { AddPasskeyBody, CreationOptions, PasskeyList, PasskeyRecord } from './schemas.ts';
import { listPasskeys } from './store.ts';

const startRoute = createRoute({
  method: 'post',
  path: '/auth/passkeys/options',
  operationId: 'passkeys.start',
  summary: 'Begin to add a passkey: what the browser needs to make one',
  responses: { 200: jsonResponse(CreationOptions), ...errorResponses(400, 409) },
});
const addRoute = createRoute({
  method: 'post',
  path: '/auth/passkeys',
  operationId: 'passkeys.add',
  summary: 'Add the passkey that the browser has made',
  request: { body: jsonBody(AddPasskeyBody) },
  responses: { 200: jsonResponse(PasskeyRecord), ...errorResponses(400, 409, 413, 415) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/auth/passkeys',
  operationId: 'passkeys.list',
  summary: 'List the passkeys of the person',
  responses: { 200: jsonResponse(PasskeyList), ...errorResponses(400) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/auth/passkeys/{passkey_id}',
  operationId: 'passkeys.delete',
  summary: 'Delete a passkey; nobody logs in by it any more',
  request: { params: z.object({ passkey_id: pathId }) },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});

export const passkeyRoutes = createRouter()
  .openapi(startRoute, async (c) => c.json({ ...(await startPasskey(c.env, requireSession(c).userId, c.req.url, systemClock())) }, 200))
  .openapi(addRoute, async (c) => {
    const row = await addPasskey(c.env, requireSession(c).userId, c.req.valid('json'), c.req.url, systemClock());
    return c.json(passkeyRecord(row), 200);
  })
  .openapi(listRoute, async (c) => {
    const passkeys = (await listPasskeys(catalog(c.env), requireSession(c).userId)).map(passkeyRecord);
    return c.json({ passkeys, total: passkeys.length }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deletePasskey(c.env, requireSession(c).userId, c.req.valid('param').passkey_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
