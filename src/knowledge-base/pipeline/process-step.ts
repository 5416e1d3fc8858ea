import type { Context } from '../../context.ts';
import type { DocumentsMessage } from '../../outbox/messages.ts';
import type { DocumentRow } from '../documents/store.ts';
import { embedPage } from './embed-page.ts';
import { readManifest, readPage } from './page-storage.ts';
import { publishDocument } from './publish-document.ts';
import { readFile } from './read-file.ts';
import { enqueueStep, stepTimeoutMs, type NextStep } from './enqueue-step.ts';
import { finalizeDocument } from './finalize-document.ts';
import { toDocumentGeneration } from '../documents/generation.ts';
import { findLastEmbeddedIndex } from '../chunks/store.ts';
import { beginStep } from './store.ts';

/**
 * Runs one step of processing a document: the file is read and cut into pages; each page is stored and embedded, one message a page; the
 * new chunks are published; the old chunks are removed. Every step is repeatable and continues where an earlier try stopped.
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

/** The first page without vectors; null: the file is not cut into pages yet. */
async function findFirstUnembeddedPage({ bindings, database }: Context, document: DocumentRow): Promise<number | null> {
  const manifest = await readManifest(bindings.FILES, document);
  if (!manifest) return null;
  const last = await findLastEmbeddedIndex(database, toDocumentGeneration(document));
  const page = manifest.starts.findIndex((start) => start > last);
  return page === -1 ? manifest.starts.length : page;
}
