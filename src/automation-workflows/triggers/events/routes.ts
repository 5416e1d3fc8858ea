import { createRoute, z } from '@hono/zod-openapi';
import { toEventRecords } from '../../../events/records.ts';
import { createRouter, errorResponses, jsonResponse, pathId } from '../../../http/router.ts';
import { nullableTimestamp } from '../../../library/time/clock.ts';
import { failureRecord, outcomeRunRecord } from './records.ts';
import { readEventOutcome } from './read-event-outcome.ts';
import { EventOutcome } from './schemas.ts';

const getRoute = createRoute({
  method: 'get',
  path: '/events/{event_id}',
  operationId: 'events.get',
  summary: 'Get an event with what it started, woke and ended, and which journeys it did not start and why',
  description:
    'Reasons are recorded when the event is handled. A run that it woke or ended is named as soon as the row of the run shows that, also when the event came before the run began to wait.',
  request: { params: z.object({ event_id: pathId }) },
  responses: { 200: jsonResponse(EventOutcome), ...errorResponses(400, 404) },
});

export const eventOutcomeRoutes = createRouter().openapi(getRoute, async (c) => {
  const outcome = await readEventOutcome(c.var.context, c.req.valid('param').event_id);
  const [record] = await toEventRecords(c.env.FILES, [outcome.event]);
  return c.json(
    {
      ...record!,
      state: outcome.state,
      handled_at: nullableTimestamp(outcome.event.handled_at),
      failure: outcome.failure && failureRecord(outcome.failure),
      started: outcome.started.map(outcomeRunRecord),
      not_started: outcome.notStarted.map(({ workflow_id, name, ...entry }) => ({
        ...entry,
        automation_workflow_id: workflow_id,
        trigger_name: name,
      })),
      woken: outcome.woken.first.map(outcomeRunRecord),
      woken_total: outcome.woken.count,
      exited: outcome.exited.first.map(outcomeRunRecord),
      exited_total: outcome.exited.count,
    },
    200,
  );
});
