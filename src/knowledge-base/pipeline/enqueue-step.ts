import type { Context } from '../../context.ts';
import type { DocumentsMessage } from '../../outbox/messages.ts';
import type { DocumentRow } from '../documents/store.ts';

/** Larger files go to a queue of their own, so that small ones do not wait behind them. */
export const minLargeFileBytes = 4 * 1024 * 1024;

export type DocumentToEnqueue = Pick<DocumentRow, 'id' | 'organization_id' | 'next_generation' | 'size_bytes'>;

/** Which page is next, and how often was looked whether the vectors are visible. Without a page, what there is tells where to go on. */
export interface StepPosition {
  page?: number;
  looks?: number;
}

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

/** After the answer; a send that is lost is made good by the minute tick. */
export function enqueueDocument(context: Context, document: DocumentToEnqueue): void {
  context.defer(enqueueStep(context.bindings, document));
}
