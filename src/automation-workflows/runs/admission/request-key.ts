import type { Context } from '../../../context.ts';
import { idempotencyTtlMs } from '../../../http/middleware/idempotency-store.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { findNewestDedupKey } from '../store.ts';

/** A request for runs, as far as it tells a repeat from another one. */
export interface RunRequest {
  /** What is asked of which workflow or trigger, such as `execute:12`. */
  target: string;
  input: unknown;
  idempotencyKey: string | undefined;
}

/**
 * Names a request in the dedup keys of its runs. One that comes again under its Idempotency-Key within 24 h has the name of the
 * first, also where that one died after its runs were written and before its answer was kept: they are found, not started again.
 */
export async function toRequestKey(context: Context, { target: of, input, idempotencyKey }: RunRequest): Promise<string> {
  if (idempotencyKey === undefined) return `request:${crypto.randomUUID()}`;
  const repeats = `request:${sha256Hex(JSON.stringify([of, idempotencyKey, input]))}`;
  const now = context.clock();
  const known = await findNewestDedupKey(context.database, context.organization.id, `${repeats}:`, now - idempotencyTtlMs);
  const firstAt = known?.split(':')[2] ?? now;
  return `${repeats}:${firstAt}`;
}
