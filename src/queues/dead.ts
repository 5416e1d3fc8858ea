import type { z } from 'zod';
import type { Context } from '../accounts/context.ts';
import { backgroundContext } from '../accounts/organizations.ts';
import { markDeliveries } from '../automation-workflows/triggers/delivery-store.ts';
import { giveUpFirstChange } from '../automation-workflows/triggers/handle-contact-changes.ts';
import { moveFire, openFire, stopSchedule } from '../automation-workflows/triggers/schedule-store.ts';
import { noteCleanup } from '../cron/cleanup-store.ts';
import { giveUpPoke } from '../cron/poke.ts';
import { endUnreachable } from '../automation-workflows/runs/stop.ts';
import { noteOnEvent } from '../events/outbox.ts';
import { markHandled } from '../events/store.ts';
import { giveUpSync } from '../integrations/sync/give-up-sync.ts';
import { giveUpDocument, restDocument } from '../knowledge-base/pipeline/tries.ts';
import { givenUp } from '../library/given-up.ts';
import { countFailure, delayAfter, forgetFailure, isRetried, keyOf } from './failed-messages.ts';
import { CallsMessage, DocumentsMessage, EventsMessage, FanoutMessage, SyncsMessage } from './messages.ts';

const words = (reason: string | null): string =>
  `${givenUp} after repeated failures; ${reason === null ? 'see the service log for the time around handled_at' : `the last was: ${reason}`}; send it again when the cause is gone`;

/** Of what nobody can send again. */
const wordsOfPart = (what: string, reason: string | null): string => `${givenUp} ${what} after repeated failures; the last was: ${reason}`;

const AnyMessage = EventsMessage.or(FanoutMessage).or(CallsMessage).or(DocumentsMessage).or(SyncsMessage);
type AnyMessage = z.infer<typeof AnyMessage>;

/**
 * What a dead message does to its record. The record stays open and is tried again, less and less often; when that has failed for
 * GIVE_UP_AFTER_HOURS, it ends in a named state with the reason.
 */
export async function handleDead(bindings: Env, body: unknown, defer: Context['defer']): Promise<void> {
  const message = AnyMessage.parse(body);
  const context = await backgroundContext(bindings, message.organization_id, defer);
  if (!context) return;
  const { database, clock, settings, log } = context;
  let reason: string | null = null;
  if (isRetried(message)) {
    const failure = await countFailure(database, message, clock());
    const { tries, firstFailedAt } = failure;
    reason = failure.reason;
    const isGivenUp = clock() - firstFailedAt >= settings.GIVE_UP_AFTER_HOURS * 3_600_000;
    if (!isGivenUp) {
      log.warn('a record will be tried again', { message, tries, in_seconds: delayAfter(tries) / 1000 });
      return message.kind === 'document' ? restDocument(context, message, delayAfter(tries)) : undefined;
    }
  }
  log.warn('record given up', { message, reason });
  await endRecord(context, message, reason);
  if (isRetried(message)) await forgetFailure(database, keyOf(message));
}

async function endRecord(context: Context, message: AnyMessage, reason: string | null): Promise<void> {
  const { database, organization, clock } = context;
  switch (message.kind) {
    case 'event':
      return markHandled(database, organization.id, [{ id: message.id, note: words(reason) }], clock());
    case 'delivery':
      return markDeliveries(database, organization.id, [{ id: message.id, note: words(reason) }], clock());
    case 'schedule_fire': {
      const fire = await openFire(database, organization.id, message.trigger_id, message.scheduled_at);
      return fire ? moveFire(database, fire, fire.cursor, { at: clock(), note: words(reason) }) : undefined;
    }
    case 'cleanup':
      return noteCleanup(database, organization.id, message.id, words(reason));
    case 'vector_move':
      // The move is as far as it was, and the tick sends for it again.
      return undefined;
    case 'deletion':
      // It is as far as it was, and the tick sends for it again.
      return undefined;
    case 'admission':
      // The runs that wait are still there, in their named state, and the tick sends for them again.
      return undefined;
    case 'document':
      return giveUpDocument(context, message);
    case 'sync':
      return giveUpSync(context, message.id);
    case 'dial':
      // The attempts are still granted, and the call slots announce them again.
      return undefined;
    case 'run_end': {
      const { state, outcome } = message.ending;
      const told = wordsOfPart('the run was to end, and its object could not be reached', reason);
      await endUnreachable(context, message.id, { state, outcome, message: told });
      return;
    }
    case 'run_release': {
      const told = wordsOfPart('the run was held while its workflow was paused, and its object could not be reached', reason);
      await endUnreachable(context, message.id, { state: 'failed', outcome: null, message: told });
      return;
    }
    case 'run_told':
      // The run looks for itself, at least once a day.
      return undefined;
    case 'run_event':
      return noteOnEvent(context, message.id, wordsOfPart(`run ${message.run_id}, which waits for it, could not be reached`, reason));
    case 'schedule':
      return stopSchedule(database, organization.id, message.id, wordsOfPart('the schedule could not be fired; save it anew', reason));
    case 'poke':
      return giveUpPoke(context, message, wordsOfPart('its object could not be reached', reason));
    case 'contact_changes':
      // The page fails as a whole; its first change is taken out, and the tick sends for the rest.
      return giveUpFirstChange(context, wordsOfPart('a change of a contact could not be worked off', reason));
  }
}
