import type { Context } from '../accounts/context.ts';
import { sendAgain } from '../queues/send-again.ts';
import { handlingStatement, reopenStatement } from './store.ts';

/** Has an event handled that was given up, or that still waits for another try. Repeatable. Throws 404 and 409. */
export const retryEvent = (context: Context, id: number): Promise<void> =>
  sendAgain(context, {
    message: { v: 1, kind: 'event', organization_id: context.organization.id, id },
    reopen: reopenStatement(context.database, context.organization.id, id),
    look: handlingStatement(context.database, context.organization.id, id),
    name: 'Event',
  });
