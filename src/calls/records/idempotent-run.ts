import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { idempotencyTtlMs } from '../../http/idempotency-ttl.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import type { Database } from '../../database/client.ts';

/** A request, as far as it tells a repeat from another one. */
export interface IdempotentRequest {
  /** What is asked of which agent or run, such as `call:12`. */
  of: string;
  input: unknown;
  idempotencyKey: string;
}

/** What a request has in common with its repeats under the same Idempotency-Key, and with nothing else. */
export const toIdempotentName = ({ of, input, idempotencyKey }: IdempotentRequest): string =>
  sha256Hex(JSON.stringify([of, idempotencyKey, input]));

export interface RunName {
  attemptKey: string;
  /** The run that the first try has written; null: this is the first. */
  runId: number | null;
}

/**
 * Names the run that a request asks for; `family` is what the attempt keys of its kind begin with. One that comes again under its
 * Idempotency-Key within 24 h has the name of the first, also where that one died after its run was written and before its answer was kept.
 */
export async function resolveRunName(
  context: Context,
  family: string,
  { idempotencyKey, ...request }: Omit<IdempotentRequest, 'idempotencyKey'> & { idempotencyKey: string | undefined },
): Promise<RunName> {
  if (idempotencyKey === undefined) return { attemptKey: `${family}:${randomUUID()}`, runId: null };
  const repeats = `${family}:${toIdempotentName({ ...request, idempotencyKey })}`;
  const now = context.clock();
  const known = await findNewestRunByPrefix(context.database, context.organization.id, `${repeats}:`, now - idempotencyTtlMs);
  return known ? { attemptKey: known.attempt_key, runId: known.id } : { attemptKey: `${repeats}:${now}`, runId: null };
}

/** The newest run since `since` (epoch ms) whose attempt key begins with `prefix`. */
export const findNewestRunByPrefix = (
  database: Database,
  organizationId: number,
  prefix: string,
  since: number,
): Promise<{ id: number; attempt_key: string } | null> =>
  database.first(
    database.prepare(
      `SELECT id, attempt_key FROM voice_agent_run INDEXED BY voice_agent_run_attempt
       WHERE organization_id = ?1 AND attempt_key >= ?2 AND attempt_key < ?2 || char(0x10ffff) AND created_at >= ?3
       ORDER BY attempt_key DESC LIMIT 1`,
      organizationId,
      prefix,
      since,
    ),
  );
