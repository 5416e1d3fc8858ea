import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import type { MessageRow } from './deliveries/store.ts';
import type { EndpointRow } from './endpoints/store.ts';
import { toPayload } from './payload.ts';
import type { AttemptOutcome } from './sending/store.ts';
import { maxFailingMs } from './sending/endpoint-health.ts';
import type { DeliveryRecord, EndpointRecord } from './schemas.ts';

export const toEndpointRecord = (row: EndpointRow): z.output<typeof EndpointRecord> => ({
  id: row.id,
  url: row.url,
  description: row.description,
  events: row.events === null ? null : (JSON.parse(row.events) as z.output<typeof EndpointRecord>['events']),
  status: row.status as 'active' | 'paused' | 'disabled',
  disabled_reason: row.disabled_reason,
  disabled_at: nullableTimestamp(row.disabled_at),
  failing_since: nullableTimestamp(row.failing_since),
  warning: describeTrouble(row),
  previous_secret_until: nullableTimestamp(row.previous_secret_until),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
});

function describeTrouble({ status, disabled_reason: reason, failing_since: since }: EndpointRow): string | null {
  if (status === 'disabled') return `Nothing is recorded or sent: ${reason}`;
  if (status === 'active' && since !== null)
    return `No attempt has succeeded since ${toTimestamp(since)}; without a success the endpoint is disabled at ${toTimestamp(since + maxFailingMs)}`;
  return null;
}

export function toDeliveryRecord(row: MessageRow, publicUrl: string): z.output<typeof DeliveryRecord> {
  const attempts = JSON.parse(row.attempts) as AttemptOutcome['attempt'][];
  return {
    id: row.sequence,
    event_id: row.event_id,
    type: row.type,
    status: row.status,
    payload: toPayload({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }, publicUrl),
    next_attempt_at: nullableTimestamp(row.status === 'pending' ? row.due_at : null),
    attempts: attempts.map((attempt) => ({
      at: toTimestamp(attempt.at),
      answer_status: attempt.status,
      answer_body: attempt.body,
      error: attempt.error,
      latency_ms: attempt.latency_ms,
    })),
    created_at: toTimestamp(row.created_at),
    ended_at: nullableTimestamp(row.ended_at),
  };
}
