import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import type { DocumentsMessage } from '../../outbox/messages.ts';
import { RetryableStepError } from './retryable-step-error.ts';
import { finalizeDocument } from './finalize-document.ts';
import { failWithLastError, recordFailedAttempt, setDueAt } from './store.ts';
import { stepTimeoutMs } from './process-step.ts';

const retryDelaysSeconds = [2, 15, 60, 300, 900];
const unexpectedErrorMessage = 'The service failed while it processed the document';
const retryAdvice = '; process the document again, or upload it anew';

/** Notes why a step failed for the `attempts`-th time, and answers after how many seconds it is tried again. */
export async function scheduleRetry(context: Context, message: DocumentsMessage, error: unknown, attempts: number): Promise<number> {
  const asked = error instanceof RetryableStepError ? (error.retryAfterSeconds ?? 0) : 0;
  const delaySeconds = Math.max(asked, retryDelaysSeconds[Math.min(attempts, retryDelaysSeconds.length) - 1] ?? 2);
  await recordFailedAttempt(context.database, message, toErrorMessage(error), context.clock() + delaySeconds * 1000 + stepTimeoutMs);
  return delaySeconds;
}

const toErrorMessage = (error: unknown) =>
  error instanceof RetryableStepError || isServiceError(error) ? error.message : unexpectedErrorMessage;

/** After the queue's last try: the minute tick sends for the document again once `restMs` are over. The reason of that try stays. */
export const restDocument = ({ database, clock }: Context, message: DocumentsMessage, restMs: number): Promise<void> =>
  setDueAt(database, message, clock() + restMs);

/** After the last try of all: the document fails for the reason of that try. One that has ended is sent for again until it is settled. */
export async function failAfterLastAttempt(context: Context, message: DocumentsMessage): Promise<void> {
  await failWithLastError(context.database, message, { otherwise: unexpectedErrorMessage, advice: retryAdvice }, context.clock());
  await finalizeDocument(context, message.id);
}
