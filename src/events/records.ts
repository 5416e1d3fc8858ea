import type { z } from '@hono/zod-openapi';
import { showPayloads } from '../database/payload.ts';
import { nullableTimestamp, toTimestamp } from '../library/time/clock.ts';
import type { EventRecord } from './schemas.ts';
import type { StoredEvent } from './store.ts';

/** The public records of stored events, with payloads that were too large for their rows read from R2. */
export async function toEventRecords(bucket: R2Bucket, rows: StoredEvent[]): Promise<z.infer<typeof EventRecord>[]> {
  const payloads = (await showPayloads(
    bucket,
    rows.map((row) => row.data),
  )) as Record<string, unknown>[];
  return rows.map((row, index) => {
    const data = payloads[index]!;
    return {
      id: row.id,
      event_type: row.event_type,
      phone: row.phone ?? '',
      contact_id: row.contact_id,
      contact_name: toContactName(row, data),
      event_data: data,
      occurred_at: nullableTimestamp(row.occurred_at),
      note: row.note,
      created_at: toTimestamp(row.created_at),
    };
  });
}

function toContactName(row: StoredEvent, data: Record<string, unknown>): string {
  const full = [row.first_name, row.last_name].filter(Boolean).join(' ');
  return full || (typeof data.name === 'string' ? data.name : '');
}
