import type { Context } from '../../context.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { deactivateIfDisconnected } from '../connection/active-connection.ts';
import { findIntegration } from '../store.ts';
import { missingSyncConfig } from './missing-sync-config.ts';
import { booksSource } from './source/books-source.ts';
import { completeSync } from './complete-sync.ts';
import { sourceFingerprint } from './mapped-fields.ts';
import { mustRecount, newProgress, progressFromCheckpoint, recountProgress, restartProgress, toleratesMovedRows } from './progress.ts';
import { sheetSource } from './source/sheet-source.ts';
import type { SourceResult } from './source/source.ts';
import { abandonSync, endSync, acquireLease, isLeaseLost, rescheduleSync, releaseLease } from './leased-sync-store.ts';
import { findPreviousSyncs } from './sync-store.ts';
import { writePage, type RunningSync } from './write-page.ts';

/** A page is read and written within this time; otherwise the worker has died, and the minute tick sends another message. */
const stepLeaseMs = 120_000;
/** The maximum of steps for one message, so that other syncs get their turn. */
const maxStepsPerMessage = 10;

/** When the sync continues; null: it has ended, or another process holds it. `isTrouble`: no step succeeded. */
export type SyncContinuation = { delaySeconds: number; isTrouble: boolean } | null;

/** Continues a sync, one page a step. Each step is repeatable. `attempts` counts from 1. */
export async function runSync(context: Context, id: number, attempts: number): Promise<SyncContinuation> {
  let sync = await acquireSync(context, id, null);
  let steps = 0;
  try {
    for (; sync && steps < maxStepsPerMessage; steps++) {
      const step = await runStep(context, sync);
      if (step === 'over') return null;
      if (step !== 'again' && 'failure' in step) return await reschedule(context, sync, step, { steps, attempts });
      // Another process or request has changed the sync or its integration: try to acquire the sync again.
      sync = step === 'again' ? await acquireSync(context, id, sync.held.lease) : step;
    }
  } catch (error) {
    context.log.error('a step of a sync failed', error, { sync_id: id });
    return sync && (await reschedule(context, sync, { message: 'The service failed while it read the data source' }, { steps, attempts }));
  }
  if (!sync) return null;
  await releaseLease(context.database, sync.held, context.clock());
  return { delaySeconds: 0, isTrouble: false };
}

const retryDelaysSeconds = [5, 30, 60, 120, 300, 600];

async function reschedule(
  { database, clock }: Context,
  { held }: RunningSync,
  { message, retryAfterSeconds = 0 }: Pick<AppFailure, 'message' | 'retryAfterSeconds'>,
  { steps, attempts }: { steps: number; attempts: number },
): Promise<SyncContinuation> {
  const tries = steps > 0 ? 1 : attempts;
  const delaySeconds = Math.max(retryAfterSeconds, retryDelaysSeconds[Math.min(tries, retryDelaysSeconds.length) - 1]!);
  await rescheduleSync(database, held, message, clock() + delaySeconds * 1000);
  return { delaySeconds, isTrouble: steps === 0 };
}

/** Acquires the sync and loads its integration. Null: another process holds it, or it has ended. */
async function acquireSync(context: Context, id: number, mine: number | null): Promise<RunningSync | null> {
  const { database, organization, clock } = context;
  const now = clock();
  const stored = await acquireLease(database, { id, organizationId: organization.id }, { now, lease: now + stepLeaseMs, mine });
  if (!stored) return null;
  const integration = await findIntegration(database, organization.id, stored.integrationId);
  const obstacle = !integration
    ? 'The integration was disconnected'
    : integration.isActive
      ? missingSyncConfig(integration)
      : integration.lastError;
  if (!integration?.isActive || obstacle !== null) {
    await abandonSync(database, stored, obstacle ?? 'The connection has ended; connect it again', now);
    return null;
  }
  const known = progressFromCheckpoint(stored, sourceFingerprint(integration));
  if (known) return { held: stored, integration, reading: known };
  const { checkpoint } = stored;
  // The source or mapping has changed since the sync began, so its checkpoint is discarded.
  const wantsEverything = checkpoint !== null;
  const reading = newProgress(integration, await findPreviousSyncs(database, integration.id), { wantsEverything, now });
  return { held: stored, integration, reading };
}

/** Runs one step. `again`: nothing was done, because the sync or its integration was changed meanwhile. */
async function runStep(context: Context, sync: RunningSync): Promise<RunningSync | 'over' | 'again' | AppFailure> {
  const { clock } = context;
  if (mustRecount(sync.reading)) return { ...sync, reading: recountProgress(sync.reading, clock()) };
  if (sync.reading.isRead) return (await completeSync(context, sync, clock() + stepLeaseMs)) ? 'over' : 'again';
  const askedAt = clock();
  const page = await readPage(context, sync);
  if (page === 'rows_moved') return { ...sync, reading: restartProgress(sync.reading, clock()) };
  if ('records' in page) return (await writePage(context, sync, page, { askedAt, lease: clock() + stepLeaseMs })) ?? 'again';
  if ('sourceInvalid' in page) return stopSync(context, sync, page.sourceInvalid);
  return handleFailure(context, sync, page);
}

function readPage(context: Context, { integration, reading }: RunningSync): Promise<SourceResult> {
  const source =
    integration.provider === 'sheet'
      ? sheetSource(context, integration, toleratesMovedRows(reading))
      : booksSource(context, integration, reading.changedSince);
  return source.read(reading.place);
}

async function handleFailure(
  context: Context,
  sync: RunningSync,
  failure: AppFailure,
): Promise<RunningSync | 'over' | 'again' | AppFailure> {
  const { integration, reading } = sync;
  if (failure.failure === 'rate_limited' || failure.failure === 'unavailable') return failure;
  // Books may reject a query for changed records.
  if (failure.failure === 'rejected' && reading.changedSince !== null)
    return { ...sync, reading: restartProgress(reading, context.clock()) };
  const words = failure.failure === 'insufficient_permissions' ? `insufficient_permissions: ${failure.message}` : failure.message;
  const stopped = await stopSync(context, sync, words);
  if (stopped === 'over') await deactivateIfDisconnected(context, integration, failure);
  return stopped;
}

/** Fails a sync whose source can no longer be read as configured. Contacts that were read before stay. */
async function stopSync({ database, clock }: Context, { held, integration }: RunningSync, reason: string): Promise<'over' | 'again'> {
  try {
    await endSync(database, held, { revision: integration.revision, reading: null, reason, now: clock() });
    return 'over';
  } catch (error) {
    if (isLeaseLost(error)) return 'again';
    throw error;
  }
}
