import type { z } from 'zod';
import type { Context } from '../context.ts';
import { backgroundContext } from '../accounts/organizations/background-context.ts';
import { markDeliveriesHandled } from '../automation-workflows/triggers/webhooks/store.ts';
import { discardFailedChange } from '../automation-workflows/triggers/contact-changes/handle-contact-changes.ts';
import { advanceFire, findOpenFire, stopSchedule } from '../automation-workflows/triggers/schedules/store.ts';
import { setCleanupNote } from '../cron/cleanup/store.ts';
import { failUnreachableObject } from '../cron/wake-object.ts';
import { endUnreachableRun } from '../automation-workflows/runs/lifecycle/stop-run.ts';
import { addEventNote, markEventsHandled } from '../events/handling.ts';
import { failSync } from '../integrations/sync/fail-sync.ts';
import { failAfterLastAttempt, restDocument } from '../knowledge-base/pipeline/retries.ts';
import {
  givenUpPrefix,
  countMessageFailure,
  retryDelayMs,
  deleteFailure,
  isRetriedMessage,
  failedMessageKey,
} from '../outbox/failed-messages.ts';
import { CallsMessage, DocumentsMessage, EventsMessage, FanoutMessage, SyncsMessage } from '../outbox/messages.ts';

const givenUpNote = (reason: string | null): string =>
  `${givenUpPrefix} after repeated failures; ${reason === null ? 'see the service log for the time around handled_at' : `the last was: ${reason}`}; send it again when the cause is gone`;

/** The note of a record that nobody can send again. */
const givenUpPartNote = (what: string, reason: string | null): string =>
  `${givenUpPrefix} ${what} after repeated failures; the last was: ${reason}`;

const AnyMessage = EventsMessage.or(FanoutMessage).or(CallsMessage).or(DocumentsMessage).or(SyncsMessage);
type AnyMessage = z.infer<typeof AnyMessage>;

/**
 * Handles a message that the queue gave up. Its record stays open and is retried with growing delays. After GIVE_UP_AFTER_HOURS of failures
 * the record ends in a named state with the reason.
 */
export async function handleDeadLetter(bindings: Env, body: unknown, defer: Context['defer']): Promise<void> {
  const message = AnyMessage.parse(body);
  const context = await backgroundContext(bindings, message.organization_id, defer);
  if (!context) return;
  const { database, clock, settings, log } = context;
  let reason: string | null = null;
  if (isRetriedMessage(message)) {
    const failure = await countMessageFailure(database, message, clock());
    const { tries, firstFailedAt } = failure;
    reason = failure.reason;
    const isGivenUp = clock() - firstFailedAt >= settings.GIVE_UP_AFTER_HOURS * 3_600_000;
    if (!isGivenUp) {
      log.warn('a record will be tried again', { message, tries, in_seconds: retryDelayMs(tries) / 1000 });
      return message.kind === 'document' ? restDocument(context, message, retryDelayMs(tries)) : undefined;
    }
  }
  log.warn('record given up', { message, reason });
  await failRecord(context, message, reason);
  if (isRetriedMessage(message)) await deleteFailure(database, failedMessageKey(message));
}

async function failRecord(context: Context, message: AnyMessage, reason: string | null): Promise<void> {
  const { database, organization, clock } = context;
  switch (message.kind) {
    case 'event':
      return markEventsHandled(context, [{ id: message.id }], new Map([[message.id, givenUpNote(reason)]]));
    case 'delivery':
      return markDeliveriesHandled(database, organization.id, [{ id: message.id, note: givenUpNote(reason) }], clock());
    case 'schedule_fire': {
      const fire = await findOpenFire(database, organization.id, message.trigger_id, message.scheduled_at);
      return fire ? advanceFire(database, fire, fire.cursor, { at: clock(), note: givenUpNote(reason) }) : undefined;
    }
    case 'cleanup':
      return setCleanupNote(database, organization.id, message.id, givenUpNote(reason));
    case 'vector_move':
      // The move keeps its progress, and the tick enqueues it again.
      return undefined;
    case 'run_move':
      // The move keeps its progress, and the tick enqueues it again.
      return undefined;
    case 'deletion':
      // The deletion keeps its progress, and the tick enqueues it again.
      return undefined;
    case 'organization_move':
      // The same.
      return undefined;
    case 'admission':
      // The runs that wait are still there, in their named state, and the tick sends for them again.
      return undefined;
    case 'document':
      return failAfterLastAttempt(context, message);
    case 'sync':
      return failSync(context, message.id);
    case 'dial':
      // The attempts are still granted, and the call slots announce them again.
      return undefined;
    case 'run_end': {
      const { state, outcome, exitEventId } = message.ending;
      const note = givenUpPartNote('the run was to end, and its object could not be reached', reason);
      await endUnreachableRun(context, message.id, { state, outcome, exitEventId, message: note });
      return;
    }
    case 'run_release': {
      const note = givenUpPartNote('the run was held while its workflow was paused, and its object could not be reached', reason);
      await endUnreachableRun(context, message.id, { state: 'failed', outcome: null, message: note });
      return;
    }
    case 'run_told':
      // The waiting run checks by itself, at least once a day.
      return undefined;
    case 'run_event':
      return addEventNote(context, message.id, givenUpPartNote(`run ${message.run_id}, which waits for it, could not be reached`, reason));
    case 'schedule':
      return stopSchedule(database, organization.id, message.id, givenUpPartNote('the schedule could not be fired; save it anew', reason));
    case 'poke':
      return failUnreachableObject(context, message, givenUpPartNote('its object could not be reached', reason));
    case 'contact_changes':
      // The page fails as a whole. Its first change is removed, and the tick enqueues the rest.
      return discardFailedChange(context, givenUpPartNote('a change of a contact could not be worked off', reason));
  }
}
