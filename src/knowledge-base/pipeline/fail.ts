import type { Context } from '../../accounts/context.ts';
import type { DocumentRow } from '../store.ts';
import { failMaking, makingOf } from './store.ts';

/** Ends a making as failed; `error` says what is wrong and what to do. `hash` where the file was read without its being noted. */
export async function fail({ database, clock }: Context, document: DocumentRow, error: string, hash?: string): Promise<null> {
  await failMaking(database, makingOf(document), { error, hash: hash ?? null }, clock());
  return null;
}
