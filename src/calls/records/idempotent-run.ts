import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { idempotencyTtlMs } from '../../http/idempotency-ttl.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import type { Database } from '../../database/client.ts';

/** The parts of a request by which a repeat is recognized. */
export interface IdempotentRequest {
  /** The operation and its agent or run, such as `call:12`. */
  of: string;
  input: unknown;
  idempotencyKey: string;
}

/** A name that a request shares with its repeats under the same Idempotency-Key, and with no other request. */
export const toIdempotentName = ({ of, input, idempotencyKey }: IdempotentRequest): string =>
  sha256Hex(JSON.stringify([of, idempotencyKey, input]));

export interface RunName {
  attemptKey: string;
  /** The run that the first try inserted; null: this is the first try. */
  runId: number | null;
}

/**
 * The attempt key of a requested run; `family` is the prefix of keys of its kind. A repeat under the same Idempotency-Key within 24 h gets
 * the key of the first try, even if that try died between inserting its run and storing its answer.
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
    database.prepare<{ id: number; attempt_key: string }>(
      `SELECT id, attempt_key FROM voice_agent_run INDEXED BY voice_agent_run_attempt
       WHERE organization_id = ?1 AND attempt_key >= ?2 AND attempt_key < ?2 || char(0x10ffff) AND created_at >= ?3
       ORDER BY attempt_key DESC LIMIT 1`,
      organizationId,
      prefix,
      since,
    ),
  );
