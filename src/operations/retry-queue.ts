import { withCallSlots } from '../calls/rpc.ts';
import type { Context } from '../context.ts';
import { enqueueDocument } from '../knowledge-base/pipeline/enqueue-step.ts';
import { notFound } from '../library/errors.ts';
import { enqueueContactChanges, enqueueEvents } from '../outbox/enqueue.ts';
import { queueNames } from './read-backlogs.ts';
import { waitingDeliveries } from './stores/deliveries-store.ts';
import { waitingDocuments } from './stores/documents-store.ts';
import { waitingEvents } from './stores/events-store.ts';

/** How many records one request sends again. */
const maxSent = 500;
const maxSentDocuments = 100;

/** Sends the oldest records of a queue again. Their handling is repeatable. Throws 404 for an unknown queue. */
export async function retryQueue(context: Context, key: string): Promise<string> {
  const { database, organization, bindings, clock, settings } = context;
  const name = queueNames.find((one) => one === key);
  switch (name) {
    case undefined:
      throw notFound('Queue');
    case 'events':
    case 'deliveries': {
      const select = name === 'events' ? waitingEvents : waitingDeliveries;
      const rows = await database.all(select(database, organization.id, maxSent));
      enqueueEvents(
        context,
        name === 'events' ? 'event' : 'delivery',
        rows.map(({ id }) => id),
      );
      return `${rows.length} of them are sent again`;
    }
    case 'contact_changes':
      enqueueContactChanges(context);
      return 'A page of the changes is worked off now, and the pages after it';
    case 'documents': {
      const before = clock() - settings.SWEEP_AFTER_SECONDS * 1000;
      const rows = await database.all(waitingDocuments(database, organization.id, { now: before, limit: maxSentDocuments }));
      for (const row of rows) enqueueDocument(context, row);
      return `${rows.length} documents are sent for again`;
    }
    case 'calls':
      await withCallSlots(bindings, organization.id, (slots) => slots.wakeStalled());
      return 'The call slots are given out anew';
  }
}
