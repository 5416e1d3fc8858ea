import { and, eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { idempotencyKey } from '../../database/schema/operations.ts';
import type { StoredRow } from '../../database/stored-row.ts';

export interface IdempotencyEntry {
  organizationId: number;
  scope: string;
  key: string;
  requestHash: string;
  /** When this request marked the key. A request that takes over the mark has another moment. */
  createdAt: number;
}

export type EarlierResponse = Pick<typeof idempotencyKey.$inferSelect, 'requestHash' | 'status' | 'body'>;
type StoredResponse = Pick<StoredRow<typeof idempotencyKey>, 'request_hash' | 'status' | 'body'>;

const hasKey = ({ organizationId, scope, key }: IdempotencyEntry) =>
  and(eq(idempotencyKey.organizationId, organizationId), eq(idempotencyKey.scope, scope), eq(idempotencyKey.key, key));

const isMarkedBy = (entry: IdempotencyEntry) => and(hasKey(entry), eq(idempotencyKey.createdAt, entry.createdAt));

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
  const { requestHash, status, body } = idempotencyKey;
  const earlierAnswer = database.from<StoredResponse>(
    database.orm.select({ requestHash, status, body }).from(idempotencyKey).where(hasKey(entry)),
  );
  const statements: [Statement, Statement<StoredResponse>] = [
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
  const [claimed, answers] = await database.batchOnce(statements, async ({ changes }) => [
    changes ? [{}] : [],
    ...(await database.batch([earlierAnswer])),
  ]);
  if (claimed.length) return null;
  const earlier = answers[0]!;
  return { requestHash: earlier.request_hash, status: earlier.status, body: earlier.body };
}

/** Stores the answer, unless another request has taken over the mark. */
export async function storeResponse(database: Database, entry: IdempotencyEntry, status: number, body: string): Promise<void> {
  await database.write(() => database.orm.update(idempotencyKey).set({ status, body }).where(isMarkedBy(entry)), 'idempotent');
}

export async function release(database: Database, entry: IdempotencyEntry): Promise<void> {
  await database.write(() => database.orm.delete(idempotencyKey).where(isMarkedBy(entry)), 'idempotent');
}
