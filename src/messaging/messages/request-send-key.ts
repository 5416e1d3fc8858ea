import type { Context } from '../../context.ts';
import { idempotencyTtlMs } from '../../http/idempotency-ttl.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { findNewestSendKey } from './store.ts';

/**
 * The send key of a request. A repeat with the same Idempotency-Key within 24 hours gets the key of the first request, also when that one
 * died before its answer was stored.
 */
export async function sendKeyForRequest(
  { database, organization, clock }: Context,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<string> {
  if (idempotencyKey === undefined) return `request:${crypto.randomUUID()}`;
  const prefix = `request:${sha256Hex(JSON.stringify([idempotencyKey, body]))}`;
  const now = clock();
  return (await findNewestSendKey(database, organization.id, prefix, now - idempotencyTtlMs)) ?? `${prefix}:${now}`;
}
