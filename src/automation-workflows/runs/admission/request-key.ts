import type { Context } from '../../../context.ts';
import { idempotencyTtlMs } from '../../../http/idempotency-ttl.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { findNewestDedupKey } from '../store.ts';

/** A request that starts runs: the fields that tell a repeated request from a new one. */
export interface RunRequest {
  /** The action and the id of its workflow or trigger, such as `execute:12`. */
  target: string;
  input: unknown;
  idempotencyKey: string | undefined;
}

/**
 * The part of runs' dedup keys that identifies the request. A request repeated under its Idempotency-Key within 24 h has the key of the first,
 * so its runs are found and not started again, even when the first request crashed before its answer was stored.
 */
export async function toRequestKey(context: Context, { target, input, idempotencyKey }: RunRequest): Promise<string> {
  if (idempotencyKey === undefined) return `request:${crypto.randomUUID()}`;
  const prefix = `request:${sha256Hex(JSON.stringify([target, idempotencyKey, input]))}`;
  const now = context.clock();
  const firstKey = await findNewestDedupKey(context.database, context.organization.id, `${prefix}:`, now - idempotencyTtlMs);
  const firstAt = firstKey?.split(':')[2] ?? now;
  return `${prefix}:${firstAt}`;
}
