import type { Context } from '../context.ts';
import { backgroundContext } from '../accounts/organizations/background-context.ts';
import { handleContactChanges } from '../automation-workflows/triggers/contact-changes/handle-contact-changes.ts';
import { handleScheduleFire } from '../automation-workflows/triggers/schedules/handle-schedule-fire.ts';
import { redeliverEvent } from '../automation-workflows/runs/waits/deliver-to-waiters.ts';
import { retryScheduleFire } from '../automation-workflows/triggers/schedules/fire-schedules.ts';
import { notifyRun } from '../automation-workflows/runs/lifecycle/notify-run.ts';
import { processDeletion } from '../cron/delete-organization/process-deletion.ts';
import { processMove } from '../cron/move-organization/process-move.ts';
import { processCleanup } from '../cron/cleanup/process-cleanup.ts';
import { wakeObject } from '../cron/wake-object.ts';
import { moveVectors } from '../knowledge-base/placement/move-vectors.ts';
import { placeCalls } from '../calls/placing/place-calls.ts';
import { yieldToEventLoop } from '../library/limits/yield-to-event-loop.ts';
import { Logger } from '../library/platform/log.ts';
import { getSettings } from '../settings.ts';
import { consumeDocuments } from './consume-documents.ts';
import { consumeEvents } from './consume-events.ts';
import { consumeSyncs } from './consume-syncs.ts';
import { isLastAttempt, retryDelaySeconds } from './retry-delays.ts';
import {
  isPartMessage,
  isRetriedMessage,
  failedMessageKey,
  deleteFailure,
  recordFailureReason,
  type RetriedMessage,
} from '../outbox/failed-messages.ts';
import { handleDeadLetter } from './dead-letters.ts';
import { CallsMessage, FanoutMessage } from '../outbox/messages.ts';
import { processRunMove } from '../automation-workflows/runs/moves/process-move.ts';
import { admitHeldRuns } from '../automation-workflows/runs/admission/start-runs.ts';
import { retryRunEnd } from '../automation-workflows/runs/lifecycle/end-runs.ts';
import { releasePausedRun } from '../automation-workflows/runs/lifecycle/holds.ts';

/** Consumes the batches of every queue. Messages are settled one by one, so a message that fails delays no other. */
export async function consumeBatch(batch: MessageBatch, bindings: Env, execution: ExecutionContext): Promise<void> {
  const log = new Logger(getSettings(bindings).LOG_LEVEL, { queue: batch.queue });
  const defer: Context['defer'] = (work) => execution.waitUntil(work.catch((error: unknown) => log.error('deferred work failed', error)));
  if (batch.queue.endsWith('-dead')) return processEach(batch.messages, log, (message) => handleDeadLetter(bindings, message.body, defer));
  if (batch.queue.startsWith('fanout')) return consumeFanout(batch, bindings, log, defer);
  if (batch.queue.startsWith('calls')) return consumeCalls(batch, bindings, log, defer);
  if (batch.queue.startsWith('documents')) return consumeDocuments(batch, bindings, log, defer);
  if (batch.queue.startsWith('syncs')) return consumeSyncs(batch, bindings, log, defer);
  return consumeEvents(batch, bindings, log, defer);
}

/** Calls of one organization are placed together. A failure before any was begun is tried again; afterwards the call slots see to them. */
async function consumeCalls(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  const readable = batch.messages.flatMap((message) => {
    const parsed = CallsMessage.safeParse(message.body);
    if (parsed.success) return { message, body: parsed.data };
    log.error('unreadable message dropped; the call slots announce its calls again', parsed.error, { body: message.body });
    message.ack();
    return [];
  });
  const groups = Map.groupBy(readable, ({ body }) => body.organization_id);
  await Promise.all(
    [...groups].map(async ([organizationId, group]) => {
      try {
        const context = await backgroundContext(bindings, organizationId, defer);
        if (context) await placeCalls(context, [...new Set(group.flatMap(({ body }) => body.keys))]);
        for (const { message } of group) message.ack();
      } catch (error) {
        log.error('calls could not be placed', error, { organization_id: organizationId });
        for (const { message } of group) message.retry({ delaySeconds: retryDelaySeconds(message.attempts) });
      }
    }),
  );
}

/** Organizations side by side, so that the work of one holds up no other; the messages of one after another. */
async function consumeFanout(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  const groups = Map.groupBy(batch.messages, ({ body }) => FanoutMessage.safeParse(body).data?.organization_id ?? null);
  await Promise.all(
    [...groups.values()].map((messages) => processEach(messages, log, (message) => handleFanout(bindings, message, log, defer))),
  );
}

async function processEach(messages: readonly Message[], log: Logger, work: (message: Message) => Promise<void>): Promise<void> {
  for (const [index, message] of messages.entries()) {
    if (index > 0) await yieldToEventLoop();
    try {
      await work(message);
      message.ack();
    } catch (error) {
      log.error('message failed', error, { attempts: message.attempts, body: message.body });
      message.retry({ delaySeconds: retryDelaySeconds(message.attempts) });
    }
  }
}

const tryRecordReason = ({ database, clock, log }: Context, message: RetriedMessage, error: unknown): Promise<void> =>
  recordFailureReason(database, message, error, clock()).catch((second: unknown) => log.error('a reason could not be noted', second));

/** Handles one page. When more pages follow, the next page is a message of its own. */
async function handleFanout(bindings: Env, { body, attempts }: Message, log: Logger, defer: Context['defer']): Promise<void> {
  const message = FanoutMessage.parse(body);
  // Each page enqueues the next.
  if (message.kind === 'deletion') return processDeletion(bindings, message.organization_id, defer);
  if (message.kind === 'organization_move') return processMove(bindings, message.organization_id, log);
  const context = await backgroundContext(bindings, message.organization_id, defer);
  if (!context) return;
  try {
    const hasMore = await processFanout(context, message);
    if (isPartMessage(message)) await deleteFailure(context.database, failedMessageKey(message));
    if (hasMore) await bindings.FANOUT_QUEUE.send(message);
  } catch (error) {
    if (isRetriedMessage(message) && isLastAttempt(attempts)) await tryRecordReason(context, message, error);
    throw error;
  }
}

function processFanout(context: Context, message: Exclude<FanoutMessage, { kind: 'deletion' | 'organization_move' }>): Promise<boolean> {
  switch (message.kind) {
    case 'contact_changes':
      return handleContactChanges(context);
    case 'schedule_fire':
      return handleScheduleFire(context, message.trigger_id, message.scheduled_at);
    case 'cleanup':
      return processCleanup(context, message.id);
    case 'vector_move':
      // The step enqueues the next one itself, some seconds later.
      return moveVectors(context).then(() => false);
    case 'run_move':
      return processRunMove(context, message.id);
    case 'admission':
      return admitHeldRuns(context, message.workflow_id);
    case 'run_end':
      return retryRunEnd(context, message).then(() => false);
    case 'run_event':
      return redeliverEvent(context, message).then(() => false);
    case 'run_told':
      return notifyRun(context, message).then(() => false);
    case 'run_release':
      return releasePausedRun(context, message.id).then(() => false);
    case 'schedule':
      return retryScheduleFire(context, message.id).then(() => false);
    case 'poke':
      return wakeObject(context.bindings, message).then(() => false);
  }
}
