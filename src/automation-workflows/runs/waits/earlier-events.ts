import type { Context } from '../../../context.ts';
import { PayloadGoneError } from '../../../database/payload.ts';
import type { EventSubscription } from '../../nodes/contract.ts';
import { readEventField } from './wake.ts';
import { earlierEventsStatement, newestEventStatement, insertWaiterStatement, type EventRow, buildPayloadMatch } from './store.ts';
import { type RunEvent, type RunOrigin, loadRunEvents } from '../cause.ts';

/**
 * Writes the `run_waiter` row of a wait and reads earlier events in one transaction: an event stored later finds the row, an event stored
 * earlier is found here. Answers matching events, oldest first, without those that the run has taken.
 */
export async function subscribeRun(
  context: Context,
  origin: RunOrigin,
  waitId: number,
  events: EventSubscription,
  taken: readonly number[],
): Promise<{ afterId: number; found: RunEvent[] }> {
  const { database, organization } = context;
  const [, newest, earlier] = await database.batch(
    [
      insertWaiterStatement(database, organization.id, origin.id, waitId, events),
      newestEventStatement(database),
      earlierEventsStatement(database, organization.id, {
        types: events.types,
        since: events.since,
        afterId: startEventId(origin),
        contactId: events.field === null ? Number(events.value) : null,
        match: events.field === null ? null : buildPayloadMatch(events.field, events.value),
      }),
    ],
    'run_waiter.wait_id',
  );
  const rows = earlier.filter((row) => !taken.includes(row.id));
  const found = await loadReadableEvents(context, rows);
  return {
    afterId: newest[0]!.id,
    found: found.filter((event) => readEventField(event, events.field) === events.value),
  };
}

/** Events that came after the run's start event and before the run was recorded. */
export async function findEventsSinceStart(context: Context, origin: RunOrigin, types: string[], ofContact: boolean): Promise<RunEvent[]> {
  if (ofContact && origin.contactId === null) return [];
  const { database, organization } = context;
  const rows = await database.all(
    earlierEventsStatement(database, organization.id, {
      types,
      since: Date.parse(origin.event?.created_at ?? '') || origin.createdAt,
      afterId: startEventId(origin),
      contactId: ofContact ? origin.contactId : null,
      match: null,
    }),
  );
  return loadReadableEvents(context, rows);
}

/** Loads events, without those whose payload is missing. */
async function loadReadableEvents(context: Context, rows: EventRow[]): Promise<RunEvent[]> {
  try {
    return await loadRunEvents(context, rows);
  } catch (error) {
    if (!(error instanceof PayloadGoneError)) throw error;
    if (rows.length > 1) return (await Promise.all(rows.map((row) => loadReadableEvents(context, [row])))).flat();
    context.log.error('an earlier event was passed over', error, { event_id: rows[0]!.id });
    return [];
  }
}

const startEventId = ({ event }: RunOrigin): number => event?.id ?? 0;
