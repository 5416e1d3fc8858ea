import { z } from '@hono/zod-openapi';
import { dateOrInstant } from '../../../../http/date-range.ts';
import { pageQuery } from '../../../../http/pagination.ts';
import { createdAt, orNull, timestamp } from '../../../../http/router.ts';
import { Failure, OutcomeRun } from '../../events/schemas.ts';
import { deliveryStates, maxScannedDeliveries } from './store.ts';

const state = z
  .enum(deliveryStates)
  .describe(
    '`open`: accepted, and not handled yet; `started`: it has started a run; `not_started`: it has started none, and `note` says why; `given_up`: handling it failed for a day.',
  );

export const DeliveryRecord = z
  .object({
    id: z.int().describe('Id of the delivery, given by the service.'),
    delivery_id: z.string().describe('Id of the delivery: that of the sender where it gave one, else ours.'),
    trigger_id: z.int().describe('The webhook trigger that has accepted it.'),
    contact_id: z.int().nullable().describe('The contact that its mapping names; null: none, or the contact was deleted.'),
    state,
    note: z
      .string()
      .nullable()
      .describe(
        'Why it started no run: its filter, a rule of admission, what was given up; null: it started one, or is open. A note that begins with `given_up:` can be sent again by `retry`.',
      ),
    run: orNull(OutcomeRun).describe('The run that it started; null: none, or the run was deleted.'),
    failure: orNull(Failure).describe('Of an open delivery that could not be handled so far: its tries; else null.'),
    payload_bytes: z.int().describe('Length of its stored payload: body, shown headers and query, in characters of JSON.'),
    payload_shape: z.unknown().openapi({
      description:
        'Keys and types of the body, without its values: `{ "id": "number", "tags": ["string"] }`; `...` where it goes on. Null: too large for a list; read the delivery alone.',
      example: { id: 'string', amount: 'number', customer: { phone: 'string' } },
    }),
    created_at: createdAt,
    handled_at: timestamp.nullable().describe('When it was handled or given up, ISO 8601 in UTC; null: it is open.'),
  })
  .describe('A webhook request that a trigger has accepted, and what came of it.')
  .openapi('TriggerDelivery');

export const DeliveryDetail = DeliveryRecord.extend({
  payload: z
    .record(z.string(), z.unknown())
    .describe(
      'What runs read: `body` as it was parsed, `raw` text, the `headers` and `query` that may be shown, and the `variables` of the mapping; `{ "_gone": why }` when storage has lost it.',
    ),
})
  .describe('A webhook request with its content.')
  .openapi('TriggerDeliveryWithPayload');

export const DeliveryQuery = z.object({
  limit: pageQuery.limit,
  cursor: pageQuery.cursor,
  state: state.optional(),
  start_date: dateOrInstant.optional().openapi({
    description: 'Only deliveries received at or after this: a date (from its beginning in UTC) or an ISO 8601 time.',
    example: '2026-11-01',
  }),
  end_date: dateOrInstant.optional().openapi({
    description: 'Only deliveries received at or before this: a date (to its end in UTC) or an ISO 8601 time.',
    example: '2026-11-30',
  }),
});

export const DeliveryList = z
  .object({
    deliveries: z.array(DeliveryRecord).describe('The deliveries of this page, newest first.'),
    limit: z.int().describe('The page size that was asked for, or the default.'),
    next_cursor: z
      .string()
      .nullable()
      .describe(
        `Send it as \`cursor\` to get the next page; null on the last one. With \`state\`, a page looks at ${maxScannedDeliveries} deliveries, so it may have fewer than \`limit\`, or none, and be followed by another.`,
      ),
  })
  .describe('One page of the deliveries of a trigger.')
  .openapi('TriggerDeliveryList');
