import { createRoute, z } from '@hono/zod-openapi';
import type { ContactDecision } from '../contact-policy/decide-contact.ts';
import { pageQuery } from '../http/pagination.ts';
import { createRouter, errorResponses, jsonResponse, pathId } from '../http/router.ts';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import { readTimeline, type TimelineItem } from './read-timeline.ts';
import { TimelineBody } from './schemas.ts';

const timelineRoute = createRoute({
  method: 'get',
  path: '/contacts/{contact_id}/timeline',
  operationId: 'contacts.getTimeline',
  summary: 'All that happened to a contact, newest first, with why, and when the next contact is allowed',
  description: 'Events, runs of journeys, decisions of the contact policy, calls, messages, consents and the suppression of the number.',
  request: {
    params: z.object({ contact_id: pathId }),
    query: z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  },
  responses: { 200: jsonResponse(TimelineBody), ...errorResponses(400, 404) },
});

const toEntry = (item: TimelineItem) => ({ ...item, at: toTimestamp(item.at), next_at: nullableTimestamp(item.next_at) });

const toNextContact = (decision: ContactDecision) => ({
  state: decision.kind,
  rule: decision.kind === 'allowed' ? null : decision.rule,
  why: decision.kind === 'allowed' ? null : decision.detail,
  at: decision.kind === 'waits' ? toTimestamp(decision.until) : null,
});

export const timelineRoutes = createRouter().openapi(timelineRoute, async (c) => {
  const query = c.req.valid('query');
  const { items, nextCursor, next } = await readTimeline(c.var.context, c.req.valid('param').contact_id, query);
  const timeline = items.map(toEntry);
  const nexts = { call: toNextContact(next.call), message: toNextContact(next.message) };
  return c.json({ timeline, limit: query.limit, next_cursor: nextCursor, next: nexts }, 200);
});
