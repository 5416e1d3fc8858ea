import { z } from 'zod';

/** A message carries ids and a schema version, never a payload. It names a record, and the record's state says whether it is handled. */
const version = z.literal(1);

/** The kinds of objects that the tick wakes when they are overdue. */
const wakeableObjects = ['run', 'campaign', 'chat', 'test_session', 'load_test', 'call_slots', 'webhook_endpoint'] as const;

/** Queues `events` and `events-bulk`: match triggers and start runs. */
export const EventsMessage = z.discriminatedUnion('kind', [
  z.object({ v: version, kind: z.literal('event'), organization_id: z.int(), id: z.int() }),
  z.object({ v: version, kind: z.literal('delivery'), organization_id: z.int(), id: z.int() }),
]);
export type EventsMessage = z.infer<typeof EventsMessage>;

/** Queue `fanout`: one page a message, which sends the next. */
export const FanoutMessage = z.discriminatedUnion('kind', [
  z.object({ v: version, kind: z.literal('contact_changes'), organization_id: z.int() }),
  z.object({ v: version, kind: z.literal('schedule_fire'), organization_id: z.int(), trigger_id: z.int(), scheduled_at: z.int() }),
  z.object({ v: version, kind: z.literal('cleanup'), organization_id: z.int(), id: z.int() }),
  z.object({ v: version, kind: z.literal('vector_move'), organization_id: z.int() }),
  z.object({ v: version, kind: z.literal('deletion'), organization_id: z.int() }),
  z.object({ v: version, kind: z.literal('organization_move'), organization_id: z.int() }),
  z.object({ v: version, kind: z.literal('run_move'), organization_id: z.int(), id: z.int() }),
  z.object({ v: version, kind: z.literal('admission'), organization_id: z.int(), workflow_id: z.int() }),
  // Parts of larger works that failed while the rest went on.
  z.object({
    v: version,
    kind: z.literal('run_end'),
    organization_id: z.int(),
    id: z.int(),
    ending: z.object({
      state: z.enum(['cancelled', 'completed']),
      outcome: z.string().nullable(),
      error: z.object({ type: z.string(), message: z.string() }).nullable(),
      exitEventId: z.int().optional(),
    }),
    why: z.string().optional(),
  }),
  z.object({ v: version, kind: z.literal('run_event'), organization_id: z.int(), id: z.int(), run_id: z.int(), wait_id: z.int() }),
  z.object({
    v: version,
    kind: z.literal('run_told'),
    organization_id: z.int(),
    id: z.int(),
    of: z.enum(['run', 'call']),
    ended_id: z.int(),
  }),
  z.object({ v: version, kind: z.literal('run_release'), organization_id: z.int(), id: z.int() }),
  z.object({ v: version, kind: z.literal('schedule'), organization_id: z.int(), id: z.int() }),
  z.object({ v: version, kind: z.literal('poke'), organization_id: z.int(), what: z.enum(wakeableObjects), id: z.int() }),
]);
export type FanoutMessage = z.infer<typeof FanoutMessage>;

/** Queue `calls`: attempts that hold a call slot and are to be dialled. */
export const CallsMessage = z.object({
  v: version,
  kind: z.literal('dial'),
  organization_id: z.int(),
  keys: z.array(z.string()).min(1).max(100),
});
export type CallsMessage = z.infer<typeof CallsMessage>;

/** Queues `documents` and `documents-large`: the next step of one generation of a document. Without `page`, the progress is read from the row. */
export const DocumentsMessage = z.object({
  v: version,
  kind: z.literal('document'),
  organization_id: z.int(),
  id: z.int(),
  generation: z.int(),
  page: z.int().min(0).optional(),
  /** How often the vector index was checked for the document's vectors. */
  looks: z.int().optional(),
});
export type DocumentsMessage = z.infer<typeof DocumentsMessage>;

/** Queue `syncs`: the next pages of a data source. */
export const SyncsMessage = z.object({ v: version, kind: z.literal('sync'), organization_id: z.int(), id: z.int() });
export type SyncsMessage = z.infer<typeof SyncsMessage>;
