import type { Context } from '../../accounts/context.ts';
import { areWrittenVisible } from '../placement/are-visible.ts';
import type { DocumentRow } from '../store.ts';
import { fail } from './fail.ts';
import { readContents } from './pages-store.ts';
import { embeddedChunks, makingOf, publishGeneration } from './store.ts';
import type { NextStep } from './take-step.ts';

/** An index shows what it takes in order, so the last ones speak for all. */
const lookedAt = 20;
/** An hour: after 2, 4, 6 ... and then 60 seconds. */
const mostLooks = 75;
const neverVisible = 'The vector index did not show the document within an hour; process the document again';

/** Shows the new chunks to search, once all of them can be found. */
export async function publish(context: Context, document: DocumentRow, page: number, looks: number): Promise<NextStep> {
  const { database, bindings, clock } = context;
  const making = makingOf(document);
  const contents = await readContents(bindings.FILES, document);
  // Cleared away: whoever did that has ended the document, or it is read anew.
  if (!contents) return null;
  const { count, last } = await embeddedChunks(database, making, lookedAt);
  if (count !== contents.chunks) throw new Error(`${count} chunks of document ${document.id} have vectors, of ${contents.chunks}`);
  if (await areWrittenVisible(context, last)) {
    await publishGeneration(database, making, contents, clock());
    return null;
  }
  if (looks >= mostLooks) return fail(context, document, neverVisible);
  return { page, looks: looks + 1, delaySeconds: Math.min(60, 2 * (looks + 1)) };
}
