import type { Context } from '../context.ts';
import type { Statement } from '../database/client.ts';
import { conflict, notFound } from '../library/errors.ts';
import { enqueueEvent } from './enqueue.ts';
import { retryNowStatement } from './failed-messages.ts';
import type { EventsMessage } from './messages.ts';

interface ResendableRecord {
  message: EventsMessage;
  /** Opens the record if it was given up. */
  reopen: Statement;
  /** Reads `handled_at` and `note` of the record; no row: there is none. */
  read: Statement;
  /** Of the record, as a person calls it. */
  name: 'Event' | 'Delivery';
}

/**
 * Has an accepted record handled that was given up, or that is still open: at once, and from now on again as often as a new one. What
 * handles it is keyed by the record, so asked again it does nothing twice. Throws 404, and 409 when it is handled.
 */
export async function resendRecord(context: Context, { message, reopen, read: look, name }: ResendableRecord): Promise<void> {
  const { database, clock } = context;
  const [, , rows] = await database.batch([reopen, retryNowStatement(database, message, clock()), look], 'idempotent');
  const row = rows![0] as { handled_at: number | null; note: string | null } | undefined;
  if (!row) throw notFound(name);
  if (row.handled_at !== null)
    throw conflict(
      `${name} ${message.id} is handled already${row.note === null ? '' : ` (${row.note})`}, and is handled once; only one that was given up or is still open can be sent again`,
    );
  enqueueEvent(context, message.kind, message.id);
}
