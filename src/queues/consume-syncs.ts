import type { Context } from '../context.ts';
import { backgroundContext } from '../accounts/organizations/background-context.ts';
import { runSync } from '../integrations/sync/run-sync.ts';
import type { Logger } from '../library/platform/log.ts';
import { SyncsMessage } from '../outbox/messages.ts';

/** For an error of a sync that cannot be loaded. */
const fallbackDelaySeconds = 30;

/** Syncs go on one after the other; each takes a few steps and sends for itself again. */
export async function consumeSyncs(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  for (const message of batch.messages) {
    const { success, data, error } = SyncsMessage.safeParse(message.body);
    if (success) await continueSync(message, data, { bindings, log, defer });
    else {
      log.error('unreadable message dropped; the minute tick sends for its sync again', error, { body: message.body });
      message.ack();
    }
  }
}

async function continueSync(
  message: Message,
  body: SyncsMessage,
  { bindings, log, defer }: { bindings: Env; log: Logger; defer: Context['defer'] },
): Promise<void> {
  try {
    const context = await backgroundContext(bindings, body.organization_id, defer);
    const onward = context && (await runSync(context, body.id, message.attempts));
    if (onward?.isTrouble) return message.retry({ delaySeconds: onward.delaySeconds });
    if (onward) await bindings.SYNCS_QUEUE.send(body, { delaySeconds: onward.delaySeconds });
    message.ack();
  } catch (error) {
    log.error('a sync could not go on', error, { attempts: message.attempts, ...body });
    message.retry({ delaySeconds: fallbackDelaySeconds });
  }
}
