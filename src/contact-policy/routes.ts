import { createRoute, z } from '@hono/zod-openapi';
import { pageQuery, toListBody } from '../http/pagination.ts';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import { readPolicy, replacePolicy, type StoredPolicy } from './change-policy.ts';
import { listConsents, recordConsent } from './consents.ts';
import { ContactPolicyBody } from './policy.ts';
import * as schemas from './schemas.ts';
import type { ConsentRow } from './store.ts';

const getRoute = createRoute({
  method: 'get',
  path: '/organizations/contact-policy',
  operationId: 'contactPolicy.get',
  summary: 'Get the rules by which persons are contacted',
  responses: { 200: jsonResponse(schemas.ContactPolicyRecord), ...errorResponses(400) },
});
const replaceRoute = createRoute({
  method: 'put',
  path: '/organizations/contact-policy',
  operationId: 'contactPolicy.replace',
  summary: 'Replace the rules by which persons are contacted',
  description:
    'The rules hold from now on for campaigns, journeys and single calls together, and are asked at the moment of contact. `{}` takes all rules away. Contacts before the first policy do not count.',
  request: { body: jsonBody(ContactPolicyBody) },
  responses: { 200: jsonResponse(schemas.ContactPolicyRecord), ...errorResponses(400, 403, 413, 415) },
});
const contactId = z.object({ contact_id: pathId });
const recordConsentRoute = createRoute({
  method: 'post',
  path: '/contacts/{contact_id}/consents',
  operationId: 'contactPolicy.recordConsent',
  summary: 'Record that a person agrees to be contacted, or takes the consent back, with the proof',
  description: "It belongs to the contact's number. Rules that need consent ask for the newest one.",
  request: { params: contactId, body: jsonBody(schemas.ConsentBody) },
  responses: { 201: jsonResponse(schemas.ConsentRecord, 'Recorded'), ...errorResponses(400, 404, 413, 415) },
});
const listConsentsRoute = createRoute({
  method: 'get',
  path: '/contacts/{contact_id}/consents',
  operationId: 'contactPolicy.listConsents',
  summary: 'List what a contact said about being contacted, newest first',
  request: { params: contactId, query: z.object(pageQuery) },
  responses: { 200: jsonResponse(schemas.ConsentList), ...errorResponses(400, 404) },
});

const toPolicyRecord = ({ policy, updatedAt }: StoredPolicy): z.infer<typeof schemas.ContactPolicyRecord> => ({
  ...policy,
  updated_at: nullableTimestamp(updatedAt),
});

const toConsentRecord = ({ is_given: isGiven, ...row }: ConsentRow): z.infer<typeof schemas.ConsentRecord> => ({
  ...row,
  given: isGiven === 1,
  at: toTimestamp(row.at),
  created_at: toTimestamp(row.created_at),
});

export const contactPolicyRoutes = createRouter()
  .openapi(getRoute, async (c) => c.json(toPolicyRecord(await readPolicy(c.var.context)), 200))
  .openapi(replaceRoute, async (c) => c.json(toPolicyRecord(await replacePolicy(c.var.context, c.req.valid('json'))), 200))
  .openapi(recordConsentRoute, async (c) => {
    const { contact_id } = c.req.valid('param');
    return c.json(toConsentRecord(await recordConsent(c.var.context, contact_id, c.req.valid('json'), c.var.caller.userId)), 201);
  })
  .openapi(listConsentsRoute, async (c) => {
    const page = c.req.valid('query');
    return c.json(
      toListBody('consents', page, await listConsents(c.var.context, c.req.valid('param').contact_id, page), toConsentRecord),
      200,
    );
  });
