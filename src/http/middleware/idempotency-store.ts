import type { Database, Statement } from '../../database/client.ts';

export interface IdempotencyEntry {
  organizationId: number;
  scope: string;
  key: string;
  requestHash: string;
  /** When this request marked the key. A request that takes over the mark has another moment. */
  createdAt: number;
}

export interface EarlierResponse {
  requestHash: string;
  status: number | null;
  body: string | null;
}

/**
 * Marks the request as running, or returns the response of the earlier request with the key. This request takes over a mark older than
 * `lapsedBefore`, whose request has died, and an answer older than `expiredBefore`.
 */
export async function claim(
  database: Database,
  entry: IdempotencyEntry,
  lapsedBefore: number,
  expiredBefore: number,
): Promise<EarlierResponse | null> {
  const earlierAnswer = database.prepare<EarlierResponse>(
    'SELECT request_hash AS requestHash, status, body FROM idempotency_key WHERE organization_id = ? AND scope = ? AND key = ?',
    entry.organizationId,
    entry.scope,
    entry.key,
  );
  const statements: [Statement, Statement<EarlierResponse>] = [
    database.prepare(
      `INSERT INTO idempotency_key (organization_id, scope, key, request_hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (organization_id, scope, key) DO UPDATE SET request_hash = excluded.request_hash, status = NULL, body = NULL, created_at = excluded.created_at
       WHERE created_at < ?7 OR (status IS NULL AND created_at < ?6 AND request_hash = excluded.request_hash)
       RETURNING 1`,
      entry.organizationId,
      entry.scope,
      entry.key,
      entry.requestHash,
      entry.createdAt,
      lapsedBefore,
      expiredBefore,
    ),
    earlierAnswer,
  ];
  const [claimed, earlier] = await database.batchOnce(statements, async ({ changes }) => [
    changes ? [{}] : [],
    ...(await database.batch([earlierAnswer])),
  ]);
  return claimed.length ? null : earlier[0]!;
}

/** Stores the answer, unless another request has taken over the mark. */
export async function storeResponse(database: Database, entry: IdempotencyEntry, status: number, body: string): Promise<void> {
  await database.all(
    database.prepare(
      'UPDATE idempotency_key SET status = ?, body = ? WHERE organization_id = ? AND scope = ? AND key = ? AND created_at = ?',
      status,
      body,
      entry.organizationId,
      entry.scope,
      entry.key,
      entry.createdAt,
    ),
    'idempotent',
  );
}

export async function release(database: Database, entry: IdempotencyEntry): Promise<void> {
  await database.all(
    database.prepare(
      'DELETE FROM idempotency_key WHERE organization_id = ? AND scope = ? AND key = ? AND created_at = ?',
      entry.organizationId,
      entry.scope,
      entry.key,
      entry.createdAt,
    ),
    'idempotent',
  );
}
