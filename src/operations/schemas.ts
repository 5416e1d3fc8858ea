import { z } from '@hono/zod-openapi';
import { pageQuery } from '../http/pagination.ts';
import { orNull, timestamp } from '../http/router.ts';
import { retriedKinds, stuckKinds } from './kinds.ts';

const kind = z
  .enum(stuckKinds)
  .describe(
    'What stands still. `event`, `delivery`, `schedule_fire`, `cleanup`: given up after a day of failures; `retrying`: fails, and is tried again by itself; `run`: a failed run of a journey; `journey`: its runs are held; `trigger`: could not start runs, or a schedule that has stopped; `campaign`: paused by the service, unreachable or failed; `call`: its carrier is silent, or the work after it is not done; `document`: could not be processed; `integration`: the tool refuses or is disconnected; `webhook_endpoint`: its receiver fails.',
  );

export const StuckQuery = z.object({
  limit: pageQuery.limit,
  cursor: pageQuery.cursor,
  kind: kind.optional().describe('Only things of this kind.'),
});

const StuckRecord = z
  .object({
    id: z
      .string()
      .openapi({ example: 'event:4711', description: 'By which `retry` finds it: the kind, a colon, and the id or key of the record.' }),
    kind,
    state: z
      .string()
      .describe(
        'How it stands: `given_up`, `retrying`, `failed`, `held`, `paused`, `failing`, `silent`, `disabled`, `disconnected`, or the state of a campaign.',
      ),
    name: z
      .string()
      .nullable()
      .describe('For people: the type of an event, the name of the journey, campaign, file or tool; null: it has none.'),
    automation_workflow_id: z.int().nullable().describe('The journey that it belongs to; null: none.'),
    since: timestamp.describe('Since when it stands still, as far as is known, ISO 8601 in UTC.'),
    why: z.string().nullable().describe('Why, in words; null: only the service log says it.'),
    tries: z.int().nullable().describe('How often the queue has given it up; null: it is not counted.'),
    next_try_at: timestamp.nullable().describe('When it is tried again by itself, ISO 8601 in UTC; null: it is not.'),
    what_to_do: z.string().describe('What a person does about it, in a sentence.'),
    retry: z.string().nullable().describe('Path below the base path that tries it again by POST; null: `what_to_do` names another way.'),
  })
  .describe('One thing that stands still.')
  .openapi('StuckRecord');

const QueueRecord = z
  .object({
    name: z
      .enum(['events', 'deliveries', 'contact_changes', 'documents', 'calls'])
      .describe(
        'Which work: events and webhooks for journeys, changes of contacts that journeys watch, steps of documents, calls that wait for a slot.',
      ),
    waiting: z.int().describe('How much of it waits for the organization.'),
    is_partial: z.boolean().describe('More was not looked at: `waiting` is at least as many.'),
    oldest_at: timestamp.nullable().describe('Since when the oldest waits, ISO 8601 in UTC; null: nothing waits, or it is not known.'),
    why: z.string().nullable().describe('Of calls: why none is dialled, in words; null: nothing holds them back.'),
    retry: z.string().nullable().describe('Path below the base path that has the oldest worked off now, by POST; null: nothing waits.'),
  })
  .describe('How far a queue is behind.')
  .openapi('QueueBacklog');

const StorageRecord = z
  .object({
    size_bytes: z.int().describe('How large the database of the organization was at the last minute tick; it may hold others, too.'),
    limit_bytes: z.int().describe('How large it may become, in bytes.'),
    is_nearly_full: z.boolean().describe('It is at 60 % of its limit or beyond: the operator moves organizations to another database.'),
    contacts: z.int().describe('How many contacts the organization has.'),
    contact_limit: z.int().describe('How many its plan allows.'),
  })
  .describe('How full the storage is.')
  .openapi('StorageUse');

export const StuckList = z
  .object({
    stuck: z.array(StuckRecord).describe('What stands still, about newest first.'),
    limit: z.int().describe('The page size that was asked for, or the default.'),
    next_cursor: z.string().nullable().describe('Send it as `cursor` to get the next page; null on the last one.'),
    queues: orNull(z.array(QueueRecord)).describe('How far the queues are behind; only the first page has it, else null.'),
    storage: orNull(StorageRecord).describe('How full the storage is; only the first page has it, else null.'),
  })
  .describe('All that stands still in the organization, and why.')
  .openapi('StuckList');

export const StuckRetried = z
  .object({
    id: z.string().describe('The id of what is tried again.'),
    kind: z.enum(retriedKinds).describe('What it is: a kind of the list, or a `queue`.'),
    message: z.string().describe('What happens now, in a sentence.'),
  })
  .describe('It is tried again. What it has done before is not done twice.')
  .openapi('StuckRetried');
