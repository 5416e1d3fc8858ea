import { z } from '@hono/zod-openapi';
import { timestamp } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { parseIsoInstant } from '../library/instants.ts';

export const eventType = z.string().trim().min(1, 'Must not be empty').max(100, 'Must have 100 characters or fewer');

export const EventBody = z
  .object({
    event_type: eventType.openapi({ example: 'cart_added', description: "Matched against the journeys' contact_event triggers" }),
    phone: z.string().max(100).nullish().openapi({ example: '+12125550123', description: 'Resolves the contact, or creates it' }),
    list_name: z
      .string()
      .trim()
      .max(200)
      .nullish()
      .openapi({ example: 'Shoppers', description: 'The contact joins this list, created if absent' }),
    data: z
      .record(z.string(), z.unknown())
      .nullish()
      .openapi({ example: { sku: 'K-200', total: 120.5 }, description: 'Up to 256 KiB; its keys are variables in triggered runs' }),
    event_id: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .openapi({ description: "The sender's own id; a repeat answers the first event and triggers nothing" }),
    occurred_at: z.iso.datetime({ offset: true, message: 'Not an ISO 8601 timestamp, such as 2026-11-20T10:15:30Z' }).nullish(),
  })
  .openapi('NewEvent');

export const EventAccepted = z
  .object({ event_id: z.int(), contact_id: z.int().nullable(), triggered_workflows: z.literal(0) })
  .openapi('EventAccepted');

export const EventRecord = z
  .object({
    id: z.int(),
    event_type: z.string(),
    phone: z.string(),
    contact_id: z.int().nullable(),
    contact_name: z.string(),
    event_data: z.record(z.string(), z.unknown()),
    occurred_at: timestamp.nullable(),
    note: z.string().nullable().openapi({ description: 'Why an accepted event triggered nothing, when there is a reason to tell' }),
    created_at: timestamp,
  })
  .openapi('Event');

const day = /^\d{4}-\d{2}-\d{2}$/;
const isMoment = (text: string) => (day.test(text) || text[10] === 'T') && parseIsoInstant(text) !== null;
const momentText = z.string().refine(isMoment, 'Not a date; use YYYY-MM-DD or an ISO 8601 timestamp');

/** Both ends inclusive; a bare date is the whole UTC day. Epoch milliseconds. */
export const startOf = (text: string): number => parseIsoInstant(text)!;
export const endOf = (text: string): number => startOf(text) + (day.test(text) ? 86_400_000 - 1 : 0);

export const EventQuery = z.object({
  ...pageQuery,
  event_type: z.string().max(200).optional(),
  search: z.string().trim().max(200).optional().openapi({ description: 'Matches phone, contact name or event type' }),
  start_date: momentText.optional().openapi({ example: '2026-11-01' }),
  end_date: momentText.optional().openapi({ example: '2026-11-30' }),
  unique_by_phone: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .openapi({ type: 'boolean', description: 'One row a phone, its newest event; leaves out events without phone' }),
});
export type EventQuery = z.output<typeof EventQuery>;

export const EventList = listOf('events', EventRecord);
