import type { Context } from '../../accounts/context.ts';
import type { DocumentsMessage } from '../../queues/messages.ts';
import type { DocumentRow } from '../store.ts';
import { embedPage } from './embed-page.ts';
import { readContents, readPage } from './pages-store.ts';
import { publish } from './publish.ts';
import { readFile } from './read-file.ts';
import { sendStep, type Place } from './send-step.ts';
import { settle } from './settle.ts';
import { beginStep, lastEmbedded, makingOf } from './store.ts';

/** By then a step is done, or it died and the minute tick sends for it again. */
export const stepMs = 120_000;

/** Where a document goes on, after how many seconds; null: it is completed or failed. */
export type NextStep = (Place & { delaySeconds?: number }) | null;

/**
 * One step of a document's way: the file is read and cut into pages; page after page is stored and embedded, a message each; the new chunks
 * are published; the old ones are cleared away. Every step may be repeated, and finds by itself what is left of it.
 */
export async function takeStep(context: Context, message: DocumentsMessage): Promise<void> {
  const now = context.clock();
  const document = await beginStep(context.database, message, now, now + stepMs);
  const next = document && (await stepOf(context, document, message));
  if (document && next) {
    const { delaySeconds, ...place } = next;
    return sendStep(context.bindings, document, place, delaySeconds);
  }
  const hasMore = await settle(context, message.id);
  if (hasMore) await context.bindings.DOCUMENTS_QUEUE.send(message);
}

async function stepOf(context: Context, document: DocumentRow, message: DocumentsMessage): Promise<NextStep> {
  const { bindings } = context;
  const page = message.page ?? (await firstOpenPage(context, document));
  if (page === null) return readFile(context, document);
  const chunks = await readPage(bindings.FILES, document, page);
  return chunks ? embedPage(context, document, page, chunks) : publish(context, document, page, message.looks ?? 0);
}

/** The page after the last that has its vectors; null: the file has not been cut into pages yet. */
async function firstOpenPage({ bindings, database }: Context, document: DocumentRow): Promise<number | null> {
  const contents = await readContents(bindings.FILES, document);
  if (!contents) return null;
  const last = await lastEmbedded(database, makingOf(document));
  const page = contents.starts.findIndex((start) => start > last);
  return page === -1 ? contents.starts.length : page;
}
