import type { Context } from '../../context.ts';
import type { DocumentRow } from '../documents/store.ts';
import { failGeneration, toDocumentGeneration } from './store.ts';

/** Ends a making as failed; `error` says what is wrong and what to do. `hash` where the file was read without its being noted. */
export async function failDocument({ database, clock }: Context, document: DocumentRow, error: string, hash?: string): Promise<null> {
  await failGeneration(database, toDocumentGeneration(document), { error, hash: hash ?? null }, clock());
  return null;
}
