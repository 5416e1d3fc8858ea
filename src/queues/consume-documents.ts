import type { Context } from '../context.ts';
import { backgroundContext } from '../accounts/organizations/background-context.ts';
import { processStep } from '../knowledge-base/pipeline/process-step.ts';
import { scheduleRetry } from '../knowledge-base/pipeline/retries.ts';
import type { Logger } from '../library/platform/log.ts';
import { DocumentsMessage } from '../outbox/messages.ts';

/** For an error whose reason cannot be stored either. */
const fallbackDelaySeconds = 30;

/** One step after another: each may need most of the isolate's memory. */
export async function consumeDocuments(batch: MessageBatch, bindings: Env, log: Logger, defer: Context['defer']): Promise<void> {
  for (const message of batch.messages) {
    const { success, data, error } = DocumentsMessage.safeParse(message.body);
    if (success) await processMessage(message, data, { bindings, log, defer });
    else {
      log.error('unreadable message dropped; the minute tick sends for its document again', error, { body: message.body });
      message.ack();
    }
  }
}

async function processMessage(
  message: Message,
  body: DocumentsMessage,
  { bindings, log, defer }: { bindings: Env; log: Logger; defer: Context['defer'] },
): Promise<void> {
  let context: Context | null = null;
  try {
    context = await backgroundContext(bindings, body.organization_id, defer);
    if (context) await processStep(context, body);
    message.ack();
  } catch (error) {
    log.error('a step of a document failed', error, { attempts: message.attempts, ...body });
    const noted = context ? scheduleRetry(context, body, error, message.attempts) : null;
    message.retry({ delaySeconds: (await noted?.catch(() => null)) ?? fallbackDelaySeconds });
  }
}
