import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse } from '../http/router.ts';
import { percentEncoded } from '../library/text/clean-text.ts';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import { toStuckId, type StuckItem } from './kinds.ts';
import { listStuck } from './list-stuck.ts';
import { readBacklogs, type QueueBacklog, type StorageUse } from './read-backlogs.ts';
import { retryStuck } from './retry-stuck.ts';
import * as schemas from './schemas.ts';
import { canRetry, whatToDo } from './what-to-do.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/operations/stuck',
  operationId: 'operations.listStuck',
  summary: 'What stands still in the organization and why, with what to do about each; for admins',
  description:
    'Records that were given up or fail, held journeys, failed runs, blocked campaigns, silent calls, failing tools and receivers.',
  request: { query: schemas.StuckQuery },
  responses: { 200: jsonResponse(schemas.StuckList), ...errorResponses(400, 403) },
});
const retryRoute = createRoute({
  method: 'post',
  path: '/operations/stuck/{stuck_id}/retry',
  operationId: 'operations.retryStuck',
  summary: 'Try again what stands still, by the operation of its own kind; for admins',
  request: {
    params: z.object({ stuck_id: z.string().min(3).max(400).describe('The `id` of the thing in the list, percent-encoded.') }),
  },
  responses: { 200: jsonResponse(schemas.StuckRetried), ...errorResponses(400, 403, 404, 409, 502) },
});

export const operationsRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const { context } = c.var;
    const query = c.req.valid('query');
    const { items, nextCursor, calls } = await listStuck(context, query);
    const first = query.cursor === undefined ? await readBacklogs(context, calls) : null;
    return c.json(
      {
        stuck: items.map(stuckRecord),
        limit: query.limit,
        next_cursor: nextCursor,
        queues: first && first.queues.map(queueRecord),
        storage: first && storageRecord(first.storage),
      },
      200,
    );
  })
  .openapi(retryRoute, async (c) => {
    const { stuck_id: id } = c.req.valid('param');
    return c.json({ id, ...(await retryStuck(c.var.context, id)) }, 200);
  });

const stuckRecord = (item: StuckItem) => ({
  id: toStuckId(item),
  kind: item.kind,
  state: item.state,
  name: item.name === '' ? null : item.name,
  automation_workflow_id: item.workflow_id,
  since: toTimestamp(item.at),
  why: item.why,
  tries: item.tries,
  next_try_at: nullableTimestamp(item.next_try_at),
  what_to_do: whatToDo(item),
  retry: canRetry(item) ? `/operations/stuck/${percentEncoded(toStuckId(item))}/retry` : null,
});

const queueRecord = ({ name, waiting, isPartial, oldestAt, why }: QueueBacklog) => ({
  name,
  waiting,
  is_partial: isPartial,
  oldest_at: nullableTimestamp(oldestAt),
  why,
  retry: waiting === 0 ? null : `/operations/stuck/queue:${name}/retry`,
});

const storageRecord = ({ bytes, limitBytes, isNearlyFull, contacts, contactLimit }: StorageUse) => ({
  size_bytes: bytes,
  limit_bytes: limitBytes,
  is_nearly_full: isNearlyFull,
  contacts,
  contact_limit: contactLimit,
});
