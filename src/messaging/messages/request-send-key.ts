import type { Context } from '../../context.ts';
import { idempotencyTtlMs } from '../../http/idempotency-ttl.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { findNewestSendKey } from './store.ts';

/**
 * Names the message of a request. One that comes again under its Idempotency-Key within 24 h has the name of the first, also where that one
 * died before its answer was kept.
 */
export async function sendKeyForRequest(
  { database, organization, clock }: Context,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<string> {
  if (idempotencyKey === undefined) return `request:${crypto.randomUUID()}`;
  const repeats = `request:${sha256Hex(JSON.stringify([idempotencyKey, body]))}`;
  const now = clock();
  return (await findNewestSendKey(database, organization.id, repeats, now - idempotencyTtlMs)) ?? `${repeats}:${now}`;
}
