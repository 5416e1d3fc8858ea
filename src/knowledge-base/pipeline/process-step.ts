import type { Context } from '../../context.ts';
import type { DocumentsMessage } from '../../outbox/messages.ts';
import type { DocumentRow } from '../documents/store.ts';
import { embedPage } from './embed-page.ts';
import { readManifest, readPage } from './page-storage.ts';
import { publishDocument } from './publish-document.ts';
import { readFile } from './read-file.ts';
import { enqueueStep, type StepPosition } from './enqueue-step.ts';
import { finalizeDocument } from './finalize-document.ts';
import { beginStep, findLastEmbeddedIndex, toDocumentGeneration } from './store.ts';

/** By then a step is done, or it died and the minute tick sends for it again. */
export const stepTimeoutMs = 120_000;

/** Where a document goes on, after how many seconds; null: it is completed or failed. */
export type NextStep = (StepPosition & { delaySeconds?: number }) | null;

/**
 * One step of a document's way: the file is read and cut into pages; page after page is stored and embedded, a message each; the new chunks
 * are published; the old ones are cleared away. Every step may be repeated, and finds by itself what is left of it.
 */
export async function processStep(context: Context, message: DocumentsMessage): Promise<void> {
  const now = context.clock();
  const document = await beginStep(context.database, message, now, now + stepTimeoutMs);
  const next = document && (await runNextStep(context, document, message));
  if (document && next) {
    const { delaySeconds, ...place } = next;
    return enqueueStep(context.bindings, document, place, delaySeconds);
  }
  const hasMore = await finalizeDocument(context, message.id);
  if (hasMore) await context.bindings.DOCUMENTS_QUEUE.send(message);
}

async function runNextStep(context: Context, document: DocumentRow, message: DocumentsMessage): Promise<NextStep> {
  const { bindings } = context;
  const page = message.page ?? (await findFirstUnembeddedPage(context, document));
  if (page === null) return readFile(context, document);
  const chunks = await readPage(bindings.FILES, document, page);
  return chunks ? embedPage(context, document, page, chunks) : publishDocument(context, document, page, message.looks ?? 0);
}

/** The page after the last that has its vectors; null: the file has not been cut into pages yet. */
async function findFirstUnembeddedPage({ bindings, database }: Context, document: DocumentRow): Promise<number | null> {
  const contents = await readManifest(bindings.FILES, document);
  if (!contents) return null;
  const last = await findLastEmbeddedIndex(database, toDocumentGeneration(document));
  const page = contents.starts.findIndex((start) => start > last);
  return page === -1 ? contents.starts.length : page;
}
