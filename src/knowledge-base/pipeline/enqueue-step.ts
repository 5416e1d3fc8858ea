import type { Context } from '../../context.ts';
import type { DocumentsMessage } from '../../outbox/messages.ts';
import type { DocumentRow } from '../documents/store.ts';

/** Larger files have a queue of their own, so that small files do not wait behind them. */
const minLargeFileBytes = 4 * 1024 * 1024;

export type DocumentToEnqueue = Pick<DocumentRow, 'id' | 'organization_id' | 'next_generation' | 'size_bytes'>;

/** The next page, and how many checks found its vectors not visible yet. Without a page, the stored chunks tell the next one. */
export interface StepPosition {
  page?: number;
  looks?: number;
}

/** A step that takes longer is considered lost; the minute tick enqueues it again. */
export const stepTimeoutMs = 120_000;

/** The position of a document's next step and its delay; null: the document is completed or failed. */
export type NextStep = (StepPosition & { delaySeconds?: number }) | null;

/** Sends the message of a document's next step. */
export async function enqueueStep(bindings: Env, document: DocumentToEnqueue, place: StepPosition = {}, delaySeconds = 0): Promise<void> {
  const queue = document.size_bytes > minLargeFileBytes ? bindings.LARGE_DOCUMENTS_QUEUE : bindings.DOCUMENTS_QUEUE;
  const message: DocumentsMessage = {
    v: 1,
    kind: 'document',
    organization_id: document.organization_id,
    id: document.id,
    generation: document.next_generation,
    ...place,
  };
  await queue.send(message, { delaySeconds });
}

/** Sends the first message of a document after the response. The minute tick repeats a lost message. */
export function enqueueDocument(context: Context, document: DocumentToEnqueue): void {
  context.defer(enqueueStep(context.bindings, document));
}
