import type { Context } from '../context.ts';
import type { Statement } from '../database/client.ts';
import { conflict, notFound } from '../library/errors.ts';
import { enqueueEvent } from './enqueue.ts';
import { retryNowStatement } from './failed-messages.ts';
import type { EventsMessage } from './messages.ts';

export interface HandlingState {
  handled_at: number | null;
  note: string | null;
}

interface ResendableRecord {
  message: EventsMessage;
  /** Reopens the record if it was given up. */
  reopen: Statement;
  /** Reads `handled_at` and `note` of the record. No row: the record does not exist. */
  read: Statement<HandlingState>;
  /** The name of the record in errors. */
  name: 'Event' | 'Delivery';
}

/**
 * Has an accepted record handled at once that was given up or is still open, with the retries of a new record. Handling is keyed by the
 * record, so nothing happens twice. Throws 404, and 409 when the record is handled.
 */
export async function resendRecord(context: Context, { message, reopen, read: look, name }: ResendableRecord): Promise<void> {
  const { database, clock } = context;
  const [, , rows] = await database.batch([reopen, retryNowStatement(database, message, clock()), look], 'idempotent');
  const [row] = rows;
  if (!row) throw notFound(name);
  if (row.handled_at !== null)
    throw conflict(
      `${name} ${message.id} is handled already${row.note === null ? '' : ` (${row.note})`}, and is handled once; only one that was given up or is still open can be sent again`,
    );
  enqueueEvent(context, message.kind, message.id);
}
