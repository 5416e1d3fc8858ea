import type { Context } from '../../accounts/context.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { inactiveOn } from '../connection-to.ts';
import { findIntegration } from '../store.ts';
import { whatSyncLacks } from '../what-sync-lacks.ts';
import { booksSource } from './books-source.ts';
import { finish } from './finish.ts';
import { sourceOf } from './mapped-fields.ts';
import { begunAnew, isTolerant, newReading, storedReading } from './reading.ts';
import { sheetSource } from './sheet-source.ts';
import type { SourceAnswer } from './source.ts';
import { dropSync, endSync, holdSync, isOutOfHand, postponeSync, releaseSync } from './held-sync-store.ts';
import { earlierSyncs } from './sync-store.ts';
import { writePage, type RunningSync } from './write-page.ts';

/** By then a page is read and written, or whoever held the sync has died and the minute tick sends for it again. */
export const stepMs = 120_000;
/** Steps in the time of one message, so that no sync keeps the others waiting. */
const stepsAMessage = 10;

/** How a sync goes on: it is over, or in other hands, when null. `trouble`: nothing was done, try again after so long. */
export type Onward = { delaySeconds: number; isTrouble: boolean } | null;

/** Goes on with a sync, step by step, each of which reads a page and writes it. Every step may be repeated. `attempts` counts from 1. */
export async function runSync(context: Context, id: number, attempts: number): Promise<Onward> {
  let sync = await hold(context, id, null);
  let steps = 0;
  try {
    for (; sync && steps < stepsAMessage; steps++) {
      const step = await takeStep(context, sync);
      if (step === 'over') return null;
      if (step !== 'again' && 'failure' in step) return await postpone(context, sync, step, { steps, attempts });
      // Somebody has changed what the step was about; whether the sync still is this process's is to be seen.
      sync = step === 'again' ? await hold(context, id, sync.held.lease) : step;
    }
  } catch (error) {
    context.log.error('a step of a sync failed', error, { sync_id: id });
    return sync && (await postpone(context, sync, { message: 'The service failed while it read the data source' }, { steps, attempts }));
  }
  if (!sync) return null;
  await releaseSync(context.database, sync.held, context.clock());
  return { delaySeconds: 0, isTrouble: false };
}

const delays = [5, 30, 60, 120, 300, 600];

async function postpone(
  { database, clock }: Context,
  { held }: RunningSync,
  { message, retryAfterSeconds = 0 }: Pick<AppFailure, 'message' | 'retryAfterSeconds'>,
  { steps, attempts }: { steps: number; attempts: number },
): Promise<Onward> {
  const tries = steps > 0 ? 1 : attempts;
  const delaySeconds = Math.max(retryAfterSeconds, delays[Math.min(tries, delays.length) - 1]!);
  await postponeSync(database, held, message, clock() + delaySeconds * 1000);
  return { delaySeconds, isTrouble: steps === 0 };
}

/** Takes the sync, and reads what it is about; null: it is another's, or is over. */
async function hold(context: Context, id: number, mine: number | null): Promise<RunningSync | null> {
  const { database, organization, clock } = context;
  const now = clock();
  const stored = await holdSync(database, { id, organizationId: organization.id }, { now, lease: now + stepMs, mine });
  if (!stored) return null;
  const integration = await findIntegration(database, organization.id, stored.integrationId);
  const obstacle = !integration
    ? 'The integration was disconnected'
    : integration.isActive
      ? whatSyncLacks(integration)
      : integration.lastError;
  if (!integration?.isActive || obstacle !== null) {
    await dropSync(database, stored, obstacle ?? 'The connection has ended; connect it again', now);
    return null;
  }
  const known = storedReading(stored, sourceOf(integration));
  if (known) return { held: stored, integration, reading: known };
  const { checkpoint } = stored;
  // What it was to read is another thing by now, so nothing of it counts.
  const wantsEverything = checkpoint !== null;
  const reading = newReading(integration, await earlierSyncs(database, integration.id), { wantsEverything, now });
  return { held: stored, integration, reading };
}

/** `again`: nothing is done, because somebody has changed something. */
async function takeStep(context: Context, sync: RunningSync): Promise<RunningSync | 'over' | 'again' | AppFailure> {
  const { clock } = context;
  if (sync.reading.isRead) return (await finish(context, sync, clock() + stepMs)) ? 'over' : 'again';
  const askedAt = clock();
  const page = await read(context, sync);
  if (page === 'moved') return { ...sync, reading: begunAnew(sync.reading, clock()) };
  if ('records' in page) return (await writePage(context, sync, page, { askedAt, lease: clock() + stepMs })) ?? 'again';
  if ('stopped' in page) return stop(context, sync, page.stopped);
  return afterFailure(context, sync, page);
}

function read(context: Context, { integration, reading }: RunningSync): Promise<SourceAnswer> {
  const source =
    integration.provider === 'sheet'
      ? sheetSource(context, integration, isTolerant(reading))
      : booksSource(context, integration, reading.changedSince);
  return source.read(reading.place);
}

async function afterFailure(
  context: Context,
  sync: RunningSync,
  failure: AppFailure,
): Promise<RunningSync | 'over' | 'again' | AppFailure> {
  const { integration, reading } = sync;
  if (failure.failure === 'rate_limited' || failure.failure === 'unavailable') return failure;
  // Books do not promise that they can be asked for what has changed.
  if (failure.failure === 'rejected' && reading.changedSince !== null) return { ...sync, reading: begunAnew(reading, context.clock()) };
  const words = failure.failure === 'insufficient_permissions' ? `insufficient_permissions: ${failure.message}` : failure.message;
  const stopped = await stop(context, sync, words);
  if (stopped === 'over') await inactiveOn(context, integration, failure);
  return stopped;
}

/** What can be read no more as it was chosen. What was read before stays. */
async function stop({ database, clock }: Context, { held, integration }: RunningSync, reason: string): Promise<'over' | 'again'> {
  try {
    await endSync(database, held, { revision: integration.revision, reading: null, reason, now: clock() });
    return 'over';
  } catch (error) {
    if (isOutOfHand(error)) return 'again';
    throw error;
  }
}
