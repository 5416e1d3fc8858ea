import { and, eq } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { event } from '../database/schema/events.ts';
import type { StoredRow } from '../database/stored-row.ts';
import { givenUpPrefix } from '../outbox/failed-messages.ts';
import { resendRecord, type HandlingState } from '../outbox/resend-record.ts';

/** An accepted event as journeys read it. `data`: JSON text, or a pointer into R2. */
export type EventToHandle = Pick<
  StoredRow<typeof event>,
  'id' | 'event_type' | 'phone' | 'contact_id' | 'data' | 'depth' | 'created_at' | 'handling'
>;

/** The unhandled events among `ids`, oldest first. */
export const findUnhandledEvents = (context: Context, ids: number[]): Promise<EventToHandle[]> =>
  selectEvents(context, ids, 'AND e.handled_at IS NULL');

/** The events with these ids, handled or not, oldest first. */
export const findEventsToHandle = (context: Context, ids: number[]): Promise<EventToHandle[]> => selectEvents(context, ids, '');

const selectEvents = ({ database, organization }: Context, ids: number[], condition: string): Promise<EventToHandle[]> =>
  database.all(
    database.prepare<EventToHandle>(
      `SELECT e.id, e.event_type, e.phone, e.contact_id, e.data, e.depth, e.created_at, e.handling
       FROM json_each(?) j CROSS JOIN event e WHERE e.id = j.value AND e.organization_id = ? ${condition} ORDER BY e.id`,
      JSON.stringify(ids),
      organization.id,
    ),
  );

/** Puts a note before the notes of an event. The beginning of the note decides whether the event can be retried. Repeatable. */
export async function addEventNote({ database, organization }: Context, id: number, note: string): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE event SET note = ?1 || coalesce('; ' || note, '') WHERE id = ?2 AND organization_id = ?3 AND instr(coalesce(note, ''), ?1) = 0`,
      note,
      id,
      organization.id,
    ),
    'idempotent',
  );
}

/**
 * Marks events as handled. `notes`, by event id: why an event started no run of a journey that listens to it; `handlings`: what it did, in its
 * stored form.
 */
export async function markEventsHandled(
  { database, organization, clock }: Context,
  events: Pick<EventToHandle, 'id'>[],
  notes: ReadonlyMap<number, string>,
  handlings: ReadonlyMap<number, string> = new Map(),
): Promise<void> {
  await database.all(
    database.prepare(
      // The plus keeps the planner from the organization's index, along which it would read every event of the organization.
      `UPDATE event SET handled_at = ?1, note = coalesce((SELECT j.value ->> 'note' FROM json_each(?2) j WHERE j.value ->> 'id' = event.id), note),
         handling = coalesce((SELECT j.value ->> 'handling' FROM json_each(?2) j WHERE j.value ->> 'id' = event.id), handling)
       WHERE id IN (SELECT value ->> 'id' FROM json_each(?2)) AND +organization_id = ?3 AND handled_at IS NULL`,
      clock(),
      JSON.stringify(events.map(({ id }) => ({ id, note: notes.get(id) ?? null, handling: handlings.get(id) ?? null }))),
      organization.id,
    ),
    'idempotent',
  );
}

/** Sends an event to its journeys again, if it was given up or is still unhandled. Repeatable. Throws 404, and 409 for a handled event. */
export const retryEvent = (context: Context, id: number): Promise<void> => {
  const { database, organization } = context;
  return resendRecord(context, {
    message: { v: 1, kind: 'event', organization_id: organization.id, id },
    reopen: database.prepare(
      `UPDATE event SET handled_at = NULL, note = NULL WHERE id = ?1 AND organization_id = ?2 AND handled_at IS NOT NULL AND substr(note, 1, length(?3)) = ?3`,
      id,
      organization.id,
      givenUpPrefix,
    ),
    read: database.from<HandlingState>(
      database.orm
        .select({ handledAt: event.handledAt, note: event.note })
        .from(event)
        .where(and(eq(event.id, id), eq(event.organizationId, organization.id))),
    ),
    name: 'Event',
  });
};
