import { randomUUID } from 'node:crypto';
import type { Context } from '../../accounts/context.ts';
import { keptMs } from '../../http/idempotency-store.ts';
import { sha256Hex } from '../../library/hash.ts';
import { newestRunNamed } from './request-store.ts';

/** A request, as far as it tells a repeat from another one. */
export interface NamedRequest {
  /** What is asked of which agent or run, such as `call:12`. */
  of: string;
  input: unknown;
  idempotencyKey: string;
}

/** What a request has in common with its repeats under the same Idempotency-Key, and with nothing else. */
export const repeatsName = ({ of, input, idempotencyKey }: NamedRequest): string => sha256Hex(JSON.stringify([of, idempotencyKey, input]));

export interface RunName {
  attemptKey: string;
  /** The run that the first try has written; null: this is the first. */
  runId: number | null;
}

/**
 * Names the run that a request asks for; `family` is what the attempt keys of its kind begin with. One that comes again under its
 * Idempotency-Key within 24 h has the name of the first, also where that one died after its run was written and before its answer was kept.
 */
export async function nameRun(
  context: Context,
  family: string,
  { idempotencyKey, ...request }: Omit<NamedRequest, 'idempotencyKey'> & { idempotencyKey: string | undefined },
): Promise<RunName> {
  if (idempotencyKey === undefined) return { attemptKey: `${family}:${randomUUID()}`, runId: null };
  const repeats = `${family}:${repeatsName({ ...request, idempotencyKey })}`;
  const now = context.clock();
  const known = await newestRunNamed(context.database, context.organization.id, `${repeats}:`, now - keptMs);
  return known ? { attemptKey: known.attempt_key, runId: known.id } : { attemptKey: `${repeats}:${now}`, runId: null };
}
