import type { Context } from '../context.ts';
import { resendRecord } from '../outbox/resend-record.ts';
import { handlingStateStatement, reopenStatement } from './store.ts';

/** Has an event handled that was given up, or that still waits for another try. Repeatable. Throws 404 and 409. */
export const retryEvent = (context: Context, id: number): Promise<void> =>
  resendRecord(context, {
    message: { v: 1, kind: 'event', organization_id: context.organization.id, id },
    reopen: reopenStatement(context.database, context.organization.id, id),
    read: handlingStateStatement(context.database, context.organization.id, id),
    name: 'Event',
  });
