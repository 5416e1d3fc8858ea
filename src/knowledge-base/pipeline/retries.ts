import type { Context } from '../../context.ts';
import type { DocumentRow } from '../documents/store.ts';
import { toDocumentGeneration } from '../documents/generation.ts';
import { failGeneration, failWithLastError, recordFailedAttempt, setDueAt } from './store.ts';
import { isServiceError } from '../../library/errors.ts';
import type { DocumentsMessage } from '../../outbox/messages.ts';
import { finalizeDocument } from './finalize-document.ts';
import { stepTimeoutMs } from './enqueue-step.ts';

/** Fails the document. `error`: the cause and the remedy. `hash`: the file's, if it is not recorded yet. Answers that no step follows. */
export async function failDocument({ database, clock }: Context, document: DocumentRow, error: string, hash?: string): Promise<null> {
  await failGeneration(database, toDocumentGeneration(document), { error, hash: hash ?? null }, clock());
  return null;
}

/** The error of a step that may succeed later. `message` is a sentence for the person who uploaded the document. */
export class RetryableStepError extends Error {
  override readonly name = 'RetryableStepError';
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const retryDelaysSeconds = [2, 15, 60, 300, 900];
const unexpectedErrorMessage = 'The service failed while it processed the document';
const retryAdvice = '; process the document again, or upload it anew';

/** Records the failure number `attempts` of a step and answers the delay of the next try in seconds. */
export async function scheduleRetry(context: Context, message: DocumentsMessage, error: unknown, attempts: number): Promise<number> {
  const requestedSeconds = error instanceof RetryableStepError ? (error.retryAfterSeconds ?? 0) : 0;
  const delaySeconds = Math.max(requestedSeconds, retryDelaysSeconds[Math.min(attempts, retryDelaysSeconds.length) - 1] ?? 2);
  await recordFailedAttempt(context.database, message, toErrorMessage(error), context.clock() + delaySeconds * 1000 + stepTimeoutMs);
  return delaySeconds;
}

const toErrorMessage = (error: unknown) =>
  error instanceof RetryableStepError || isServiceError(error) ? error.message : unexpectedErrorMessage;

/** After the queue's last try: the minute tick enqueues the document again after `restMs`. The recorded error stays. */
export const restDocument = ({ database, clock }: Context, message: DocumentsMessage, restMs: number): Promise<void> =>
  setDueAt(database, message, clock() + restMs);

/** After the very last try: fails the document with the recorded error. A document that has ended already is only finalized. */
export async function failAfterLastAttempt(context: Context, message: DocumentsMessage): Promise<void> {
  await failWithLastError(context.database, message, { otherwise: unexpectedErrorMessage, advice: retryAdvice }, context.clock());
  await finalizeDocument(context, message.id);
}
