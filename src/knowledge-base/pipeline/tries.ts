import type { Context } from '../../accounts/context.ts';
import { isServiceError } from '../../library/errors.ts';
import type { DocumentsMessage } from '../../queues/messages.ts';
import { Postponed } from './postponed.ts';
import { settle } from './settle.ts';
import { failAfterTries, noteTry, setDueAt } from './store.ts';
import { stepMs } from './take-step.ts';

const delays = [2, 15, 60, 300, 900];
const unexpected = 'The service failed while it processed the document';
const advice = '; process the document again, or upload it anew';

/** Notes why a step failed for the `attempts`-th time, and answers after how many seconds it is tried again. */
export async function postpone(context: Context, message: DocumentsMessage, error: unknown, attempts: number): Promise<number> {
  const asked = error instanceof Postponed ? (error.retryAfterSeconds ?? 0) : 0;
  const delaySeconds = Math.max(asked, delays[Math.min(attempts, delays.length) - 1] ?? 2);
  await noteTry(context.database, message, reasonOf(error), context.clock() + delaySeconds * 1000 + stepMs);
  return delaySeconds;
}

const reasonOf = (error: unknown) => (error instanceof Postponed || isServiceError(error) ? error.message : unexpected);

/** After the queue's last try: the minute tick sends for the document again once `restMs` are over. The reason of that try stays. */
export const restDocument = ({ database, clock }: Context, message: DocumentsMessage, restMs: number): Promise<void> =>
  setDueAt(database, message, clock() + restMs);

/** After the last try of all: the document fails for the reason of that try. One that has ended is sent for again until it is settled. */
export async function giveUpDocument(context: Context, message: DocumentsMessage): Promise<void> {
  await failAfterTries(context.database, message, { otherwise: unexpected, advice }, context.clock());
  await settle(context, message.id);
}
