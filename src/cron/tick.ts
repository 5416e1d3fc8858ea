import { fullRatio, isFullAt, readMeasuredSize, measureSize } from '../database/database-size.ts';
import { Logger } from '../library/platform/log.ts';
import { deleteHandledFailures, claimDueMessages, type RetriedMessage } from '../outbox/failed-messages.ts';
import type { Context } from '../context.ts';
import { findOverdueDeletions } from '../accounts/deletion/store.ts';
import { findWorkflowsWithCapacity } from '../automation-workflows/runs/admission/store.ts';
import { findOverdueRunMoves } from '../automation-workflows/runs/moves/store.ts';
import { findOrganizationsWithChanges } from '../automation-workflows/triggers/contact-changes/store.ts';
import { findStaleFires } from '../automation-workflows/triggers/schedules/store.ts';
import { fireSchedules } from '../automation-workflows/triggers/schedules/fire-schedules.ts';
import { catalog, shardBindings, shards } from '../database/shards.ts';
import type { Database } from '../database/client.ts';
import { rebuildStatistics } from '../statistics/rebuild.ts';
import { startDueSyncs } from '../integrations/sync/start-due-syncs.ts';
import { enqueueStep } from '../knowledge-base/pipeline/enqueue-step.ts';
import { claimOverdueDocuments } from '../knowledge-base/pipeline/store.ts';
import { enqueueMove } from '../knowledge-base/placement/move-vectors.ts';
import { findOverdueMoves } from '../knowledge-base/placement/move-store.ts';
import type { EventsMessage, FanoutMessage } from '../outbox/messages.ts';
import { sendAll } from '../outbox/enqueue.ts';
import { getSettings } from '../settings.ts';
import { findStaleCleanups } from './cleanup/store.ts';
import { countEvents, findUnhandled } from './cursor-store.ts';
import { requestLostCalls, wakeDueWebhookEndpoints, wakeStalledObjects, wakeStalledRuns, wakeStalledCallSlots } from './wake-stalled.ts';
import { indexCalls } from './index-calls.ts';
import { findOverdueMoves as findOverdueMovesBetweenShards } from './move-organization/store.ts';
import { applyRetention } from './retention/apply-retention.ts';

/** How many stale records of a kind a tick sends again in a shard. */
const pageSize = 500;

interface Tick {
  bindings: Env;
  database: Database;
  now: number;
  log: Logger;
  defer: Context['defer'];
}

/**
 * The minute's work: fires due schedules, sends accepted but unhandled records again, wakes objects whose alarm is lost, and removes old
 * rows. The steps are independent: a step that fails is logged and delays no other.
 */
export async function tick(bindings: Env, now: number, execution: Pick<ExecutionContext, 'waitUntil'>): Promise<void> {
  const log = new Logger(getSettings(bindings).LOG_LEVEL, { source: 'tick' });
  const defer: Context['defer'] = (work) => execution.waitUntil(work.catch((error: unknown) => log.error('deferred work failed', error)));
  const names = shardBindings(bindings).map(({ name }) => name);
  for (const [index, database] of shards(bindings).entries()) {
    const name = names[index]!;
    const run: Tick = { bindings, database, now, log, defer };
    await runStep(log, 'schedules', () => fireSchedules(bindings, database, now, { log, defer }));
    await runStep(log, 'events', () => resendAccepted(run, 'event'));
    await runStep(log, 'deliveries', () => resendAccepted(run, 'delivery'));
    await runStep(log, 'event counts', () => countEvents(database, now));
    await runStep(log, 'fanout', () => resendFanout(run));
    await runStep(log, 'failed messages', () => resendFailed(run));
    await runStep(log, 'documents', () => resendDocuments(run));
    await runStep(log, 'moves of vectors', () => resendVectorMoves(run));
    await runStep(log, 'syncs', () => startSyncs(run));
    await runStep(log, 'overdue call slots', () => wakeStalledCallSlots(bindings, database, now, log));
    await runStep(log, 'lost calls', () => requestLostCalls(bindings, database, now, log));
    await runStep(log, 'overdue campaigns, chats and tests', () => wakeStalledObjects(bindings, database, now, log));
    await runStep(log, 'webhook endpoints', () => wakeDueWebhookEndpoints(bindings, database, now, log));
    await runStep(log, 'overdue runs', () => wakeStalledRuns(bindings, database, now, log));
    await runStep(log, 'size', () => checkDatabaseSize(database, name, getSettings(bindings).DATABASE_LIMIT_MEGABYTES, now, log));
    await runStep(log, 'words of calls', () => indexCalls(bindings, database));
    await runStep(log, 'retention', () => applyRetention(bindings, database, now, log));
  }
  await runStep(log, 'deletions', () => resendDeletions(bindings, now, log));
  await runStep(log, 'statistics that are counted again', () => rebuildStatistics(bindings, now, log, defer));
  await runStep(log, 'moves between shards', () => resendMoves(bindings, now));
}

async function runStep(log: Logger, name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error('step of the minute tick failed', error, { step: name });
  }
}

const staleBefore = (run: Tick) => run.now - getSettings(run.bindings).SWEEP_AFTER_SECONDS * 1000;

/** Sends accepted events and deliveries whose message was lost or still waits. Their handling is repeatable. */
async function resendAccepted(run: Tick, kind: EventsMessage['kind']): Promise<void> {
  const stale = await findUnhandled(run.database, kind, staleBefore(run), pageSize);
  if (!stale.length) return;
  run.log.warn('accepted records are sent again', { kind, count: stale.length });
  const messages = stale.map(({ id, organization_id }): EventsMessage => ({ v: 1, kind, organization_id, id }));
  await sendAll(run.bindings.EVENTS_QUEUE, messages);
}

async function resendFanout(run: Tick): Promise<void> {
  const before = staleBefore(run);
  const changes = await findOrganizationsWithChanges(run.database, before, pageSize);
  const fires = await findStaleFires(run.database, before, pageSize);
  const cleanups = await findStaleCleanups(run.database, before, pageSize);
  const runMoves = await findOverdueRunMoves(run.database, before, pageSize);
  const openWorkflows = await findWorkflowsWithCapacity(run.database, pageSize);
  const messages: FanoutMessage[] = [
    ...changes.map((organization_id) => ({ v: 1 as const, kind: 'contact_changes' as const, organization_id })),
    ...fires.map(({ organization_id, trigger_id, scheduled_at }) => ({
      v: 1 as const,
      kind: 'schedule_fire' as const,
      organization_id,
      trigger_id,
      scheduled_at,
    })),
    ...cleanups.map(({ organization_id, id }) => ({ v: 1 as const, kind: 'cleanup' as const, organization_id, id })),
    ...runMoves.map(({ organization_id, id }) => ({ v: 1 as const, kind: 'run_move' as const, organization_id, id })),
    ...openWorkflows.map(({ organization_id, id }) => ({ v: 1 as const, kind: 'admission' as const, organization_id, workflow_id: id })),
  ];
  await sendAll(run.bindings.FANOUT_QUEUE, messages);
}

/** Sends records whose messages the queue gave up. A record rests for as long as the queue retries, so that no message runs beside itself. */
async function resendFailed(run: Tick): Promise<void> {
  await deleteHandledFailures(run.database, run.now);
  const due = await claimDueMessages(run.database, run.now, queueRetryWindowMs, pageSize);
  if (!due.length) return;
  // A document has its own `due_at`, and its size decides the queue: `resendDocuments` sends it.
  run.log.warn('failed records are tried again', { count: due.length });
  const events = due.filter(isEventsMessage);
  const others = due.filter((message) => message.kind !== 'document' && !isEventsMessage(message));
  await sendAll(run.bindings.EVENTS_QUEUE, events);
  await sendAll(run.bindings.FANOUT_QUEUE, others);
}

/** Longer than all delays between a queue's tries together. */
const queueRetryWindowMs = 10 * 60_000;

const isEventsMessage = (message: RetriedMessage): message is EventsMessage => message.kind === 'event' || message.kind === 'delivery';

/** How many overdue documents a tick enqueues: most wait because the queue is long, and more messages make it no shorter. */
const maxDocumentsPerTick = 100;

async function resendDocuments(run: Tick): Promise<void> {
  const overdue = await claimOverdueDocuments(run.database, staleBefore(run), run.now, maxDocumentsPerTick);
  if (overdue.length > 0) run.log.warn('overdue documents are sent for again', { count: overdue.length });
  for (const document of overdue)
    await enqueueStep(run.bindings, document).catch((error: unknown) =>
      run.log.error('a document could not be sent for', error, { document_id: document.id }),
    );
}

async function resendVectorMoves(run: Tick): Promise<void> {
  const organizations = await findOverdueMoves(run.database, staleBefore(run), pageSize);
  for (const organizationId of organizations)
    await enqueueMove(run.bindings, organizationId).catch((error: unknown) =>
      run.log.error('a move of vectors could not be sent for', error, { organization_id: organizationId }),
    );
}

async function startSyncs(run: Tick): Promise<void> {
  const lapsed = await startDueSyncs(run.bindings, run.database, run.now, staleBefore(run));
  if (lapsed > 0) run.log.warn('syncs that nobody holds are sent for again', { count: lapsed });
}

async function resendDeletions(bindings: Env, now: number, log: Logger): Promise<void> {
  const before = now - getSettings(bindings).SWEEP_AFTER_SECONDS * 1000;
  const overdue = await findOverdueDeletions(catalog(bindings), before, pageSize);
  if (overdue.length) log.warn('deletions of organizations are sent for again', { count: overdue.length });
  for (const organization_id of overdue)
    await bindings.FANOUT_QUEUE.send({ v: 1, kind: 'deletion', organization_id } satisfies FanoutMessage);
}

async function resendMoves(bindings: Env, now: number): Promise<void> {
  const overdue = await findOverdueMovesBetweenShards(catalog(bindings), now - getSettings(bindings).SWEEP_AFTER_SECONDS * 1000, pageSize);
  for (const organization_id of overdue)
    await bindings.FANOUT_QUEUE.send({ v: 1, kind: 'organization_move', organization_id } satisfies FanoutMessage);
}

const isHourly = (now: number) => Math.floor(now / 60_000) % 60 === 0;

/** Measures a database. Logs a warning when it becomes full, and then every hour. */
export async function checkDatabaseSize(database: Database, name: string, limitMegabytes: number, now: number, log: Logger): Promise<void> {
  const before = await readMeasuredSize(database);
  const bytes = await measureSize(database);
  if (bytes === null || !isFullAt(bytes, limitMegabytes)) return;
  if (isFullAt(before, limitMegabytes) && !isHourly(now)) return;
  log.warn(`a database is over ${fullRatio * 100} % of its limit; it takes no new organizations`, {
    database: name,
    bytes,
    limit_bytes: limitMegabytes * 1_000_000,
  });
}
