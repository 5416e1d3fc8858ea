import type { z } from 'zod';
import type { Context } from '../accounts/context.ts';
import { backgroundContext } from '../accounts/organizations.ts';
import { markDeliveries } from '../automation-workflows/triggers/delivery-store.ts';
import { discardFirstChange } from '../automation-workflows/triggers/change-store.ts';
import { moveFire, openFire } from '../automation-workflows/triggers/schedule-store.ts';
import { noteCleanup } from '../cron/cleanup-store.ts';
import { markHandled } from '../events/store.ts';
import { giveUpSync } from '../integrations/sync/give-up-sync.ts';
import { giveUpDocument } from '../knowledge-base/pipeline/tries.ts';
import { givenUp } from '../library/given-up.ts';
import { countFailure, delayAfter, forgetFailure, keyOf, type RetriedMessage } from './failed-messages.ts';
import { CallsMessage, DocumentsMessage, EventsMessage, FanoutMessage, SyncsMessage } from './messages.ts';

const reason = `${givenUp} after repeated failures; see the service log for the time around handled_at, and send it again when the cause is gone`;

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
  if (isRetried(message)) {
    const { tries, firstFailedAt } = await countFailure(database, message, clock());
    const isGivenUp = clock() - firstFailedAt >= settings.GIVE_UP_AFTER_HOURS * 3_600_000;
    if (!isGivenUp) return log.warn('a record will be tried again', { message, tries, in_seconds: delayAfter(tries) / 1000 });
  }
  log.warn('record given up', { message });
  await endRecord(context, message);
  if (isRetried(message)) await forgetFailure(database, keyOf(message));
}

const isRetried = (message: AnyMessage): message is RetriedMessage =>
  ['event', 'delivery', 'schedule_fire', 'cleanup', 'contact_changes'].includes(message.kind);

async function endRecord(context: Context, message: AnyMessage): Promise<void> {
  const { database, organization, clock } = context;
  switch (message.kind) {
    case 'event':
      return markHandled(database, organization.id, [{ id: message.id, note: reason }], clock());
    case 'delivery':
      return markDeliveries(database, organization.id, [{ id: message.id, note: reason }], clock());
    case 'schedule_fire': {
      const fire = await openFire(database, organization.id, message.trigger_id, message.scheduled_at);
      return fire ? moveFire(database, fire, fire.cursor, { at: clock(), note: reason }) : undefined;
    }
    case 'cleanup':
      return noteCleanup(database, organization.id, message.id, reason);
    case 'vector_move':
      // The move is as far as it was, and the tick sends for it again.
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
    case 'contact_changes':
      // The page fails as a whole; its first change is taken out, and the tick sends for the rest.
      return discardFirstChange(database, organization.id);
  }
}
