import type { Context } from '../accounts/context.ts';
import { keptMs } from '../http/idempotency-store.ts';
import { sha256Hex } from '../library/hash.ts';
import { newestSendKey } from './message-store.ts';

/**
 * Names the message of a request. One that comes again under its Idempotency-Key within 24 h has the name of the first, also where that one
 * died before its answer was kept.
 */
export async function keyOfRequest(
  { database, organization, clock }: Context,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<string> {
  if (idempotencyKey === undefined) return `request:${crypto.randomUUID()}`;
  const repeats = `request:${sha256Hex(JSON.stringify([idempotencyKey, body]))}`;
  const now = clock();
  return (await newestSendKey(database, organization.id, repeats, now - keptMs)) ?? `${repeats}:${now}`;
}
