import type { CallStandstill } from '../calls/rpc.ts';
import type { Context } from '../context.ts';
import { fullRatio, readMeasuredSize } from '../database/database-size.ts';
import type { Backlog } from './stores/backlog.ts';
import { contactChangeBacklog } from './stores/contact-changes-store.ts';
import { deliveryBacklog } from './stores/deliveries-store.ts';
import { documentBacklog } from './stores/documents-store.ts';
import { eventBacklog } from './stores/events-store.ts';
import { contactCount } from './stores/storage-store.ts';

export const queueNames = ['events', 'deliveries', 'contact_changes', 'documents', 'calls'] as const;
type QueueName = (typeof queueNames)[number];

/** Work that waits in a queue. `oldestAt` in epoch ms; null: nothing waits, or the moment is not known. */
export interface QueueBacklog {
  name: QueueName;
  waiting: number;
  isPartial: boolean;
  oldestAt: number | null;
  why: string | null;
}

export interface StorageUse {
  bytes: number;
  limitBytes: number;
  isNearlyFull: boolean;
  contacts: number;
  contactLimit: number;
}

/** What waits in the queues for the organization, and how full its database is. One call to the database for the queues, one for the size. */
export async function readBacklogs(
  context: Context,
  calls: CallStandstill | null,
): Promise<{ queues: QueueBacklog[]; storage: StorageUse }> {
  const { database, organization, settings, clock } = context;
  const [events, deliveries, changes, documents, contacts] = await database.batch([
    eventBacklog(database, organization.id),
    deliveryBacklog(database, organization.id),
    contactChangeBacklog(database, organization.id),
    documentBacklog(database, organization.id, clock() - settings.SWEEP_AFTER_SECONDS * 1000),
    contactCount(database, organization.id),
  ]);
  const bytes = await readMeasuredSize(database);
  const limitBytes = settings.DATABASE_LIMIT_MEGABYTES * 1_000_000;
  return {
    queues: [
      toBacklog('events', events[0]),
      toBacklog('deliveries', deliveries[0]),
      toBacklog('contact_changes', changes[0]),
      toBacklog('documents', documents[0]),
      toCallBacklog(calls),
    ],
    storage: {
      bytes,
      limitBytes,
      isNearlyFull: bytes >= fullRatio * limitBytes,
      contacts: contacts[0]?.contacts_count ?? 0,
      contactLimit: organization.plan.maxContacts,
    },
  };
}

const toBacklog = (name: QueueBacklog['name'], row: Backlog | undefined): QueueBacklog => ({
  name,
  waiting: row?.waiting ?? 0,
  isPartial: row?.is_partial === 1,
  oldestAt: row?.oldest_at ?? null,
  why: null,
});

const toCallBacklog = (calls: CallStandstill | null): QueueBacklog => ({
  name: 'calls',
  waiting: calls?.queued ?? 0,
  isPartial: calls === null || calls.queued >= 1000,
  oldestAt: null,
  why: calls === null ? 'The call slots did not answer; try again' : calls.waitingFor,
});
