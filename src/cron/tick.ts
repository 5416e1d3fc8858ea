import { forgetHandled, takeDueMessages, type RetriedMessage } from '../queues/failed-messages.ts';
import type { Context } from '../accounts/context.ts';
import { overdueDeletions } from '../accounts/deletion-store.ts';
import { workflowsWithRoom } from '../automation-workflows/runs/admission-store.ts';
import { organizationsWithChanges } from '../automation-workflows/triggers/change-store.ts';
import { staleFires } from '../automation-workflows/triggers/schedule-store.ts';
import { fireSchedules } from '../automation-workflows/triggers/fire-schedules.ts';
import { catalog, shardBindings, shards } from '../database/shards.ts';
import type { Database } from '../database/client.ts';
import { startDueSyncs } from '../integrations/sync/start-due-syncs.ts';
import { sendStep } from '../knowledge-base/pipeline/send-step.ts';
import { takeOverdue } from '../knowledge-base/pipeline/store.ts';
import { sendMove } from '../knowledge-base/placement/move.ts';
import { overdueMoves } from '../knowledge-base/placement/move-store.ts';
import { Logger } from '../library/log.ts';
import type { EventsMessage, FanoutMessage } from '../queues/messages.ts';
import { settingsOf } from '../settings.ts';
import { staleCleanups } from './cleanup-store.ts';
import { countEvents } from './progress-store.ts';
import { askForLostCalls, pokeObjects, pokeOverdue, pokeSlots } from './poke-overdue.ts';
import { keepRecent } from './retention/keep-recent.ts';
import { watchSize } from './watch-size.ts';
import { sweep } from './sweep.ts';

/** How many stale records of a kind a tick sends again, a shard. */
const pageSize = 500;

interface Tick {
  bindings: Env;
  database: Database;
  now: number;
  log: Logger;
  defer: Context['defer'];
}

/**
 * The minute's work: schedules that are due, records that were accepted but not handled, objects whose alarm is dead, and old
 * things. Every step stands alone: one that fails is logged and holds up no other.
 */
export async function tick(bindings: Env, now: number, execution: Pick<ExecutionContext, 'waitUntil'>): Promise<void> {
  const log = new Logger(settingsOf(bindings).LOG_LEVEL, { source: 'tick' });
  const defer: Context['defer'] = (work) => execution.waitUntil(work.catch((error: unknown) => log.error('deferred work failed', error)));
  const names = shardBindings(bindings).map(({ name }) => name);
  for (const [index, database] of shards(bindings).entries()) {
    const name = names[index]!;
    const run: Tick = { bindings, database, now, log, defer };
    await step(log, 'schedules', () => fireSchedules(bindings, database, now, { log, defer }));
    await step(log, 'events', () => resendAccepted(run, 'event'));
    await step(log, 'deliveries', () => resendAccepted(run, 'delivery'));
    await step(log, 'event counts', () => countEvents(database, now));
    await step(log, 'fanout', () => resendFanout(run));
    await step(log, 'failed messages', () => resendFailed(run));
    await step(log, 'documents', () => resendDocuments(run));
    await step(log, 'moves of vectors', () => sendForMoves(run));
    await step(log, 'syncs', () => startSyncs(run));
    await step(log, 'overdue call slots', () => pokeSlots(bindings, database, now, log));
    await step(log, 'lost calls', () => askForLostCalls(bindings, database, now, log));
    await step(log, 'overdue campaigns, chats and tests', () => pokeObjects(bindings, database, now, log));
    await step(log, 'overdue runs', () => pokeOverdue(bindings, database, now, log));
    await step(log, 'size', () => watchSize(database, name, settingsOf(bindings).DATABASE_LIMIT_MEGABYTES, now, log));
    await step(log, 'retention', () => keepRecent(bindings, database, now, log));
  }
  await step(log, 'deletions', () => resendDeletions(bindings, now, log));
}

async function step(log: Logger, name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error('step of the minute tick failed', error, { step: name });
  }
}

const sweepBefore = (run: Tick) => run.now - settingsOf(run.bindings).SWEEP_AFTER_SECONDS * 1000;

/** Accepted events and deliveries whose message was lost, or not yet worked off: their handling is repeatable. */
async function resendAccepted(run: Tick, kind: EventsMessage['kind']): Promise<void> {
  const stale = await sweep(run.database, kind, sweepBefore(run), pageSize);
  if (!stale.length) return;
  run.log.warn('accepted records are sent again', { kind, count: stale.length });
  const messages = stale.map(({ id, organization_id }) => ({ body: { v: 1, kind, organization_id, id } satisfies EventsMessage }));
  for (let start = 0; start < messages.length; start += 100) await run.bindings.EVENTS_QUEUE.sendBatch(messages.slice(start, start + 100));
}

async function resendFanout(run: Tick): Promise<void> {
  const before = sweepBefore(run);
  const changes = await organizationsWithChanges(run.database, before, pageSize);
  const fires = await staleFires(run.database, before, pageSize);
  const cleanups = await staleCleanups(run.database, before, pageSize);
  const rooms = await workflowsWithRoom(run.database, pageSize);
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
    ...rooms.map(({ organization_id, id }) => ({ v: 1 as const, kind: 'admission' as const, organization_id, workflow_id: id })),
  ];
  for (let start = 0; start < messages.length; start += 100)
    await run.bindings.FANOUT_QUEUE.sendBatch(messages.slice(start, start + 100).map((body) => ({ body })));
}

/** Records that the queues gave up on. Sent again they rest for as long as the queue tries, so that no message runs beside itself. */
async function resendFailed(run: Tick): Promise<void> {
  await forgetHandled(run.database, run.now);
  const due = await takeDueMessages(run.database, run.now, queueTriesMs, pageSize);
  if (!due.length) return;
  // Of a document its own due_at tells when it is sent for, and its size to which queue.
  run.log.warn('failed records are tried again', { count: due.length });
  const events = due.filter(isEventsMessage);
  const others = due.filter((message) => message.kind !== 'document' && !isEventsMessage(message));
  for (let start = 0; start < events.length; start += 100)
    await run.bindings.EVENTS_QUEUE.sendBatch(events.slice(start, start + 100).map((body) => ({ body })));
  for (let start = 0; start < others.length; start += 100)
    await run.bindings.FANOUT_QUEUE.sendBatch(others.slice(start, start + 100).map((body) => ({ body })));
}

/** Longer than the delays between a queue's tries take together. */
const queueTriesMs = 10 * 60_000;

const isEventsMessage = (message: RetriedMessage): message is EventsMessage => message.kind === 'event' || message.kind === 'delivery';

/** How many overdue documents a tick sends for: many wait because the queue is long, and more messages make it no shorter. */
const documentsAtOnce = 100;

async function resendDocuments(run: Tick): Promise<void> {
  const overdue = await takeOverdue(run.database, sweepBefore(run), run.now, documentsAtOnce);
  if (overdue.length > 0) run.log.warn('overdue documents are sent for again', { count: overdue.length });
  for (const document of overdue)
    await sendStep(run.bindings, document).catch((error: unknown) =>
      run.log.error('a document could not be sent for', error, { document_id: document.id }),
    );
}

async function sendForMoves(run: Tick): Promise<void> {
  const organizations = await overdueMoves(run.database, sweepBefore(run), pageSize);
  for (const organizationId of organizations)
    await sendMove(run.bindings, organizationId).catch((error: unknown) =>
      run.log.error('a move of vectors could not be sent for', error, { organization_id: organizationId }),
    );
}

async function startSyncs(run: Tick): Promise<void> {
  const lapsed = await startDueSyncs(run.bindings, run.database, run.now, sweepBefore(run));
  if (lapsed > 0) run.log.warn('syncs that nobody holds are sent for again', { count: lapsed });
}

async function resendDeletions(bindings: Env, now: number, log: Logger): Promise<void> {
  const before = now - settingsOf(bindings).SWEEP_AFTER_SECONDS * 1000;
  const overdue = await overdueDeletions(catalog(bindings), before, pageSize);
  if (overdue.length) log.warn('deletions of organizations are sent for again', { count: overdue.length });
  for (const organization_id of overdue)
    await bindings.FANOUT_QUEUE.send({ v: 1, kind: 'deletion', organization_id } satisfies FanoutMessage);
}
