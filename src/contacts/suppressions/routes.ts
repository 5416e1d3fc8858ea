import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { toListBody } from '../../http/pagination.ts';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import { exportSuppressions } from './export-suppressions.ts';
import { importSuppressions } from './import-suppressions.ts';
import type { ProposalRow } from './proposal-store.ts';
import { confirmProposal, dismissProposal, listProposals } from './proposals.ts';
import { toSuppressionRecord } from './records.ts';
import * as schemas from './schemas.ts';
import { addSuppression, deleteSuppression, deleteSuppressionByPhone, listSuppressions, restoreSuppression } from './suppressions.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/contacts/suppressions',
  operationId: 'suppressions.list',
  summary: 'List phone numbers that must not be called, newest first',
  request: { query: schemas.SuppressionQuery },
  responses: { 200: jsonResponse(schemas.SuppressionList), ...errorResponses(400) },
});
const addRoute = createRoute({
  method: 'post',
  path: '/contacts/suppressions',
  operationId: 'suppressions.create',
  summary: 'Suppress a phone number: no call goes to it, for good or until a moment',
  description: 'A number that is suppressed already is suppressed for the longer of the two times. To shorten it, delete it first.',
  request: { body: jsonBody(schemas.SuppressionBody) },
  responses: { 200: jsonResponse(schemas.SuppressionRecord), ...errorResponses(400, 413, 415) },
});
const deleteByPhoneRoute = createRoute({
  method: 'delete',
  path: '/contacts/suppressions',
  operationId: 'suppressions.deleteByPhone',
  summary: 'Allow calls to a phone number again',
  request: { query: schemas.PhoneQuery },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/contacts/suppressions/{suppression_id}',
  operationId: 'suppressions.delete',
  summary: 'Delete a suppression; calls to its number are allowed again',
  request: { params: z.object({ suppression_id: pathId }) },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});
const restoreRoute = createRoute({
  method: 'post',
  path: '/contacts/suppressions/{suppression_id}/restore',
  operationId: 'suppressions.restore',
  summary: 'Allow calls to a number again and keep the record, with who allowed them and why',
  description: 'One that has ended, or was restored before, stays as it is.',
  request: { params: z.object({ suppression_id: pathId }), body: jsonBody(schemas.RestoreBody) },
  responses: { 200: jsonResponse(schemas.SuppressionRecord), ...errorResponses(400, 404, 413, 415) },
});
const importRoute = createRoute({
  method: 'post',
  path: '/contacts/suppressions/import',
  operationId: 'suppressions.import',
  summary: 'Suppress all numbers of a list in CSV',
  description:
    'Repeating it changes nothing. Rows without a usable number are listed in `errors`, the others come in. The body may have 16 MiB.',
  request: { body: jsonBody(schemas.ImportBody) },
  responses: { 200: jsonResponse(schemas.ImportResult), ...errorResponses(400, 413, 415) },
});
const exportRoute = createRoute({
  method: 'get',
  path: '/contacts/suppressions/export',
  operationId: 'suppressions.export',
  summary: 'Download all suppressions as CSV or as JSON lines, oldest first',
  request: { query: schemas.ExportQuery },
  responses: {
    200: {
      description: 'The suppressions, one a line',
      content: { 'text/csv': { schema: z.string() }, 'application/x-ndjson': { schema: z.string() } },
    },
    ...errorResponses(400),
  },
});
const listProposalsRoute = createRoute({
  method: 'get',
  path: '/contacts/suppressions/proposals',
  operationId: 'suppressions.listProposals',
  summary: 'List the calls after which a person has to decide whether to suppress the number',
  request: { query: schemas.ProposalQuery },
  responses: { 200: jsonResponse(schemas.ProposalList), ...errorResponses(400) },
});
const proposalId = z.object({ proposal_id: pathId });
const confirmRoute = createRoute({
  method: 'post',
  path: '/contacts/suppressions/proposals/{proposal_id}/confirm',
  operationId: 'suppressions.confirmProposal',
  summary: 'Suppress the number of a proposal for good',
  description: 'All open proposals of the number are confirmed with it.',
  request: { params: proposalId },
  responses: { 200: jsonResponse(schemas.SuppressionRecord), ...errorResponses(400, 404, 409) },
});
const dismissRoute = createRoute({
  method: 'post',
  path: '/contacts/suppressions/proposals/{proposal_id}/dismiss',
  operationId: 'suppressions.dismissProposal',
  summary: 'Decide that the number of a proposal may be called',
  description: 'All open proposals of the number are dismissed with it. A suppression of the number by another way stays.',
  request: { params: proposalId },
  responses: { 200: jsonResponse(schemas.ProposalRecord), ...errorResponses(400, 404, 409) },
});

const toProposalRecord = (row: ProposalRow): z.infer<typeof schemas.ProposalRecord> => ({
  ...row,
  created_at: toTimestamp(row.created_at),
  decided_at: nullableTimestamp(row.decided_at),
});

export const suppressionRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(toListBody('suppressions', query, await listSuppressions(c.var.context, query), toSuppressionRecord), 200);
  })
  .openapi(exportRoute, (c) => {
    const query = c.req.valid('query');
    const type = query.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
    return c.body(exportSuppressions(c.var.context, query), 200, {
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="suppressions.${query.format}"`,
    });
  })
  .openapi(listProposalsRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(toListBody('proposals', query, await listProposals(c.var.context, query), toProposalRecord), 200);
  })
  .openapi(confirmRoute, async (c) =>
    c.json(toSuppressionRecord(await confirmProposal(c.var.context, c.req.valid('param').proposal_id, c.var.caller.userId)), 200),
  )
  .openapi(dismissRoute, async (c) =>
    c.json(toProposalRecord(await dismissProposal(c.var.context, c.req.valid('param').proposal_id, c.var.caller.userId)), 200),
  )
  .openapi(importRoute, async (c) => c.json(await importSuppressions(c.var.context, c.req.valid('json'), c.var.caller.userId), 200))
  .openapi(restoreRoute, async (c) => {
    const { suppression_id } = c.req.valid('param');
    return c.json(
      toSuppressionRecord(await restoreSuppression(c.var.context, suppression_id, c.req.valid('json'), c.var.caller.userId)),
      200,
    );
  })
  .openapi(addRoute, async (c) =>
    c.json(toSuppressionRecord(await addSuppression(c.var.context, c.req.valid('json'), c.var.caller.userId)), 200),
  )
  .openapi(deleteByPhoneRoute, async (c) => {
    await deleteSuppressionByPhone(c.var.context, c.req.valid('query').phone);
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteSuppression(c.var.context, c.req.valid('param').suppression_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
