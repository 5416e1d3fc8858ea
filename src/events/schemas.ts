import { z } from '@hono/zod-openapi';
import { queryBoolean, timestamp } from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { eventType, maxEventTypeLength } from '../library/event-type.ts';
import { dateOrInstant } from '../http/date-range.ts';

export const EventBody = z
  .object({
    event_type: eventType.describe('What happened, in a word of yours. Journeys with a `contact_event` trigger for this word start.'),
    phone: z
      .string()
      .max(100)
      .nullish()
      .describe(
        'Phone number of the person, in any usual spelling. Finds the contact; when there is none, creates it with the tag `event`.',
      ),
    list_name: z.string().trim().max(200).nullish().describe('The contact joins this list, which is created when no list has this name.'),
    data: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Anything that is known of it, up to 256 KiB of JSON. Its keys are variables in the journeys that it starts.'),
    event_id: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('Your own id of the event. Sent again within 24 hours, it answers the first event and triggers nothing.'),
    occurred_at: z.iso
      .datetime({ offset: true, message: 'Not an ISO 8601 timestamp, such as 2026-11-20T10:15:30Z' })
      .nullish()
      .describe('When it happened, ISO 8601 with an offset or Z. It is kept with the event and changes nothing else.'),
  })
  .openapi('NewEvent');

export const EventAccepted = z
  .object({
    event_id: z.int().describe('Id under which the event is stored.'),
    contact_id: z
      .int()
      .nullable()
      .describe('The contact that the event is of; null without a usable phone, and when a new contact would be beyond the plan.'),
    triggered_workflows: z.literal(0).describe('Always 0: journeys start after the answer.'),
  })
  .describe('The event is stored; journeys that listen to it start within seconds.')
  .openapi('EventAccepted');

export const EventRetried = z
  .object({
    event_id: z.int().describe('The event that is sent again.'),
    state: z
      .literal('open')
      .describe('Always `open`: it is handled within seconds. Should that fail, it is tried again as a new event is.'),
  })
  .describe('The event is sent again to the journeys that listen to it. What it has started before is not started twice.')
  .openapi('EventRetried');

export const EventRecord = z
  .object({
    id: z.int().describe('Id of the event, given by the service.'),
    event_type: z.string().describe('What happened, in the word of the sender.'),
    phone: z.string().describe('Phone number in E.164; as it was received when it is not one; empty when there was none.'),
    contact_id: z.int().nullable().describe('The contact that the event is of; null when it is of none or the contact was deleted.'),
    contact_name: z.string().describe('Full name of the contact, else `name` of the data, else empty.'),
    event_data: z
      .record(z.string(), z.unknown())
      .describe('`data` as it was sent; `{}` when there was none, `{ "_gone": why }` when it was lost from storage.'),
    occurred_at: timestamp.nullable().describe('When it happened, as the sender said, in UTC; null when the sender did not say.'),
    note: z
      .string()
      .nullable()
      .describe(
        'Why the event triggered nothing, when there is a reason to tell; else null. It begins with `given_up:` when handling it failed for a day: `POST /events/{event_id}/retry` sends it again.',
      ),
    created_at: timestamp.describe('When the event was received, ISO 8601 in UTC.'),
  })
  .describe('Something that happened to a person, as a system of yours reported it.')
  .openapi('Event');

export const EventQuery = z.object({
  ...pageQuery,
  event_type: z.string().max(maxEventTypeLength).optional().describe('Only events of this type.'),
  search: z.string().trim().max(200).optional().describe('Part of the phone, the name of the contact or the event type.'),
  start_date: dateOrInstant.optional().openapi({
    description: 'Only events received at or after this: a date (from its beginning in UTC) or an ISO 8601 time.',
    example: '2026-11-01',
  }),
  end_date: dateOrInstant.optional().openapi({
    description: 'Only events received at or before this: a date (to its end in UTC) or an ISO 8601 time.',
    example: '2026-11-30',
  }),
  unique_by_phone: queryBoolean
    .default(false)
    .openapi({ description: 'Of each phone only its newest event; events without phone are left out.' }),
});
export type EventQuery = z.output<typeof EventQuery>;

export const EventList = listSchema('events', EventRecord);
