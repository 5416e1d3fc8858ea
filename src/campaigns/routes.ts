import { createRoute, z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { exportResponse } from '../http/export-query.ts';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { toListBody } from '../http/pagination.ts';
import { apiUrl } from '../http/public-url.ts';
import { changeCampaignState, startCampaign } from './lifecycle/change-state.ts';
import { updateCampaign } from './lifecycle/update.ts';
import { createCampaign } from './lifecycle/create.ts';
import { listCampaigns } from './queries/list.ts';
import { previewCampaign } from './source/preview.ts';
import { readCampaign, readProgress, readRows } from './queries/read.ts';
import { campaignRecord, rowRecord } from './queries/records.ts';
import { redialCampaign } from './lifecycle/redial.ts';
import { downloadReport } from './report/report.ts';
import * as schemas from './schemas.ts';
import { createUploadUrl } from './source/upload/upload.ts';

const params = z.object({ campaign_id: pathId });

const uploadUrlRoute = createRoute({
  method: 'post',
  path: '/campaign/upload-url',
  operationId: 'campaigns.createUploadUrl',
  summary: 'Get a signed URL to PUT a CSV or .xlsx file to, and its source_id',
  request: { body: jsonBody(schemas.NewUploadBody) },
  responses: { 200: jsonResponse(schemas.UploadTicket), ...errorResponses(400) },
});
const createCampaignRoute = createRoute({
  method: 'post',
  path: '/campaign/create',
  operationId: 'campaigns.create',
  summary: 'Create a calling campaign as a draft',
  request: { body: jsonBody(schemas.NewCampaignBody) },
  responses: { 200: jsonResponse(schemas.CampaignRecord), ...errorResponses(400, 404, 502) },
});
const previewRoute = createRoute({
  method: 'post',
  path: '/campaign/preview',
  operationId: 'campaigns.preview',
  summary: 'See what a source would give a campaign: its columns, the phone column, the first rows and how many cannot be dialled',
  request: { body: jsonBody(schemas.CampaignPreviewBody) },
  responses: { 200: jsonResponse(schemas.CampaignPreview), ...errorResponses(400, 404, 502) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/campaign',
  operationId: 'campaigns.list',
  summary: 'List campaigns, newest first',
  request: { query: schemas.CampaignQuery },
  responses: { 200: jsonResponse(schemas.CampaignList), ...errorResponses(400) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/campaign/{campaign_id}',
  operationId: 'campaigns.get',
  summary: 'Get a campaign as it is now, with its log',
  request: { params },
  responses: { 200: jsonResponse(schemas.CampaignRecord), ...errorResponses(400, 404) },
});
const patchRoute = createRoute({
  method: 'patch',
  path: '/campaign/{campaign_id}',
  operationId: 'campaigns.update',
  summary: 'Change a campaign that is draft or paused; config objects merge key by key, slots are replaced',
  request: { params, body: jsonBody(schemas.CampaignPatchBody) },
  responses: { 200: jsonResponse(schemas.CampaignRecord), ...errorResponses(400, 404, 409) },
});
const stateChangeRoute = <Verb extends string>(verb: Verb, summary: string) =>
  createRoute({
    method: 'post',
    path: `/campaign/{campaign_id}/${verb}`,
    operationId: `campaigns.${verb}`,
    summary,
    request: { params },
    responses: { 200: jsonResponse(schemas.CampaignRecord), ...errorResponses(400, 404, 409) },
  });
const startRoute = stateChangeRoute('start', 'Read the rows of a draft and begin to dial');
const pauseRoute = stateChangeRoute('pause', 'Dial nothing new; calls under way run to their end');
const resumeRoute = stateChangeRoute('resume', 'Go on with a paused campaign where it paused');
const cancelRoute = stateChangeRoute('cancel', 'End a campaign for good; calls under way run to their end');
const progressRoute = createRoute({
  method: 'get',
  path: '/campaign/{campaign_id}/progress',
  operationId: 'campaigns.getProgress',
  summary: 'How far a campaign is, and what it waits for',
  request: { params },
  responses: { 200: jsonResponse(schemas.CampaignProgress), ...errorResponses(400, 404) },
});
const rowsRoute = createRoute({
  method: 'get',
  path: '/campaign/{campaign_id}/runs',
  operationId: 'campaigns.listRows',
  summary: 'List the rows of a campaign in the order of the source',
  request: { params, query: schemas.CampaignRowQuery },
  responses: { 200: jsonResponse(schemas.CampaignRowList), ...errorResponses(400, 404) },
});
const reportRoute = createRoute({
  method: 'get',
  path: '/campaign/{campaign_id}/report',
  operationId: 'campaigns.getReport',
  summary: 'Download every row with what came of it as CSV, XLSX or JSON lines',
  request: { params, query: schemas.CampaignReportQuery },
  responses: { 200: exportResponse('A line for each row, or for each attempt'), ...errorResponses(400, 404) },
});
const redialRoute = createRoute({
  method: 'post',
  path: '/campaign/{campaign_id}/redial',
  operationId: 'campaigns.redial',
  summary: 'Create a draft that calls the rows again that were not reached',
  request: { params, body: { ...jsonBody(schemas.RedialBody), required: false } },
  responses: { 200: jsonResponse(schemas.CampaignRecord), ...errorResponses(400, 404, 409) },
});

export const campaignRoutes = createRouter()
  .openapi(uploadUrlRoute, async (c) => c.json(await createUploadUrl(c.var.context, c.req.valid('json'), apiUrl(c)), 200))
  .openapi(createCampaignRoute, async (c) => c.json(campaignRecord(await createCampaign(c.var.context, c.req.valid('json'))), 200))
  .openapi(previewRoute, async (c) => c.json(await previewCampaign(c.var.context, c.req.valid('json')), 200))
  .openapi(listRoute, async (c) => {
    const listed = await listCampaigns(c.var.context, c.req.valid('query'));
    if (!(listed instanceof ReadableStream)) return c.json(listed, 200);
    // The same envelope, which the router's types cannot see in a stream.
    return c.body(listed, 200, { 'Content-Type': 'application/json' }) as never;
  })
  .openapi(getRoute, async (c) => c.json(await readCampaign(c.var.context, c.req.valid('param').campaign_id), 200))
  .openapi(patchRoute, async (c) => c.json(await updateCampaign(c.var.context, c.req.valid('param').campaign_id, c.req.valid('json')), 200))
  .openapi(startRoute, async (c) => c.json(await startCampaign(c.var.context, c.req.valid('param').campaign_id), 200))
  .openapi(pauseRoute, async (c) => c.json(await changeCampaignState(c.var.context, c.req.valid('param').campaign_id, 'pause'), 200))
  .openapi(resumeRoute, async (c) => c.json(await changeCampaignState(c.var.context, c.req.valid('param').campaign_id, 'resume'), 200))
  .openapi(cancelRoute, async (c) => c.json(await changeCampaignState(c.var.context, c.req.valid('param').campaign_id, 'cancel'), 200))
  .openapi(progressRoute, async (c) => c.json(await readProgress(c.var.context, c.req.valid('param').campaign_id), 200))
  .openapi(rowsRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(
      toListBody('runs', query, await readRows(c.var.context, apiUrl(c), c.req.valid('param').campaign_id, query), rowRecord),
      200,
    );
  })
  .openapi(reportRoute, async (c) => {
    const { campaign_id } = c.req.valid('param');
    const response = await downloadReport(c.var.context, apiUrl(c), campaign_id, c.req.valid('query'));
    return response as Response & TypedResponse<string, 200, 'text'>;
  })
  .openapi(redialRoute, async (c) =>
    c.json(campaignRecord(await redialCampaign(c.var.context, c.req.valid('param').campaign_id, c.req.valid('json'))), 200),
  );
