import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse, pathId } from '../http/router.ts';
import { readCallStatistics } from './call-statistics.ts';
import { readJourneyStatistics } from './journey-statistics.ts';
import { readKnowledgeStatistics } from './knowledge-statistics.ts';
import * as schemas from './schemas.ts';
import { readUsage } from './usage-statistics.ts';

const callsRoute = createRoute({
  method: 'get',
  path: '/statistics/calls',
  operationId: 'statistics.calls',
  summary: 'Count telephone calls by what came of them, over time and by agent, campaign, journey or number',
  description:
    'Answers from counters, so that it costs the same however many calls there are. A call counts when it has ended, at the moment at which it was asked for. ' +
    'Counts stay when calls are deleted with age.',
  request: { query: schemas.CallStatisticsQuery },
  responses: { 200: jsonResponse(schemas.CallStatistics), ...errorResponses(400) },
});
const journeyRoute = createRoute({
  method: 'get',
  path: '/statistics/journeys/{automation_workflow_id}',
  operationId: 'statistics.journey',
  summary: 'Show how far the runs of a journey came: its funnel, by version and by variant of a split',
  request: {
    params: z.object({ automation_workflow_id: pathId.describe('Id of the journey.') }),
    query: schemas.JourneyStatisticsQuery,
  },
  responses: { 200: jsonResponse(schemas.JourneyStatistics), ...errorResponses(400, 404) },
});
const knowledgeRoute = createRoute({
  method: 'get',
  path: '/statistics/knowledge',
  operationId: 'statistics.knowledge',
  summary: 'List the questions to which the documents have no answer, the most frequent first',
  request: { query: schemas.KnowledgeStatisticsQuery },
  responses: { 200: jsonResponse(schemas.KnowledgeStatistics), ...errorResponses(400) },
});
const usageRoute = createRoute({
  method: 'get',
  path: '/statistics/usage',
  operationId: 'statistics.usage',
  summary: 'Count what the organization uses: calls, minutes, tokens, messages, documents, cost',
  request: { query: schemas.UsageQuery },
  responses: { 200: jsonResponse(schemas.UsageStatistics), ...errorResponses(400) },
});

/** Counts that are kept with each end, and read without looking at what was counted. */
export const statisticsRoutes = createRouter()
  .openapi(callsRoute, async (c) => {
    const { from, to, timezone, group_by, ...filter } = c.req.valid('query');
    return c.json(await readCallStatistics(c.var.context, { from, to, timezone, group_by, filter }), 200);
  })
  .openapi(journeyRoute, async (c) => {
    const { automation_workflow_id: id } = c.req.valid('param');
    return c.json(await readJourneyStatistics(c.var.context, id, c.req.valid('query')), 200);
  })
  .openapi(knowledgeRoute, async (c) => c.json(await readKnowledgeStatistics(c.var.context, c.req.valid('query')), 200))
  .openapi(usageRoute, async (c) => c.json(await readUsage(c.var.context, c.req.valid('query')), 200));
