import type { Context } from '../../context.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { deactivateIfDisconnected } from '../connection/active-connection.ts';
import { findIntegration } from '../store.ts';
import { missingSyncConfig } from './missing-sync-config.ts';
import { booksSource } from './source/books-source.ts';
import { completeSync } from './complete-sync.ts';
import { sourceFingerprint } from './mapped-fields.ts';
import { restartProgress, toleratesMovedRows, newProgress, progressFromCheckpoint } from './progress.ts';
import { sheetSource } from './source/sheet-source.ts';
import type { SourceResult } from './source/source.ts';
import { abandonSync, endSync, acquireLease, isLeaseLost, rescheduleSync, releaseLease } from './leased-sync-store.ts';
import { findPreviousSyncs } from './sync-store.ts';
import { writePage, type RunningSync } from './write-page.ts';

/** By then a page is read and written, or whoever held the sync has died and the minute tick sends for it again. */
const stepLeaseMs = 120_000;
/** Steps in the time of one message, so that no sync keeps the others waiting. */
const maxStepsPerMessage = 10;

/** How a sync goes on: it is over, or in other hands, when null. `trouble`: nothing was done, try again after so long. */
export type SyncContinuation = { delaySeconds: number; isTrouble: boolean } | null;

/** Goes on with a sync, step by step, each of which reads a page and writes it. Every step may be repeated. `attempts` counts from 1. */
export async function runSync(context: Context, id: number, attempts: number): Promise<SyncContinuation> {
  let sync = await acquireSync(context, id, null);
  let steps = 0;
  try {
    for (; sync && steps < maxStepsPerMessage; steps++) {
      const step = await runStep(context, sync);
      if (step === 'over') return null;
      if (step !== 'again' && 'failure' in step) return await reschedule(context, sync, step, { steps, attempts });
      // Somebody has changed what the step was about; whether the sync still is this process's is to be seen.
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

/** Takes the sync, and reads what it is about; null: it is another's, or is over. */
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
  // What it was to read is another thing by now, so nothing of it counts.
  const wantsEverything = checkpoint !== null;
  const reading = newProgress(integration, await findPreviousSyncs(database, integration.id), { wantsEverything, now });
  return { held: stored, integration, reading };
}

/** `again`: nothing is done, because somebody has changed something. */
async function runStep(context: Context, sync: RunningSync): Promise<RunningSync | 'over' | 'again' | AppFailure> {
  const { clock } = context;
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
  // Books do not promise that they can be asked for what has changed.
  if (failure.failure === 'rejected' && reading.changedSince !== null)
    return { ...sync, reading: restartProgress(reading, context.clock()) };
  const words = failure.failure === 'insufficient_permissions' ? `insufficient_permissions: ${failure.message}` : failure.message;
  const stopped = await stopSync(context, sync, words);
  if (stopped === 'over') await deactivateIfDisconnected(context, integration, failure);
  return stopped;
}

/** What can be read no more as it was chosen. What was read before stays. */
async function stopSync({ database, clock }: Context, { held, integration }: RunningSync, reason: string): Promise<'over' | 'again'> {
  try {
    await endSync(database, held, { revision: integration.revision, reading: null, reason, now: clock() });
    return 'over';
  } catch (error) {
    if (isLeaseLost(error)) return 'again';
    throw error;
  }
}
