import { eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { messagingConfig } from '../../database/schema/messaging.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { StoredCredentials } from './credentials.ts';

type StoredConfig = StoredRow<typeof messagingConfig>;

export type ConfigRow = Omit<typeof messagingConfig.$inferSelect, 'organizationId' | 'credentials'> & {
  credentials: Record<string, StoredCredentials | null>;
};

/** A statement for a batch; `toConfigRow` reads its rows. */
export const configStatement = (database: Database, organizationId: number): Statement<StoredConfig> =>
  database.from<StoredConfig>(database.orm.select().from(messagingConfig).where(eq(messagingConfig.organizationId, organizationId)));

/** The configuration; null: nothing is configured yet. */
export function toConfigRow([row]: StoredConfig[]): ConfigRow | null {
  if (row === undefined) return null;
  return {
    provider: row.provider,
    credentials: JSON.parse(row.credentials) as ConfigRow['credentials'],
    callbackOrigin: row.callback_origin,
    revision: row.revision,
    updatedAt: row.updated_at,
  };
}

export const findConfig = async (database: Database, organizationId: number): Promise<ConfigRow | null> =>
  toConfigRow(await database.all(configStatement(database, organizationId)));

/**
 * Writes the configuration. False: it has changed since the revision before `row.revision` (0: there was none), and nothing is written.
 */
export async function writeConfig(database: Database, organizationId: number, row: ConfigRow): Promise<boolean> {
  const write = database.prepare(
    `INSERT INTO messaging_config (organization_id, provider, credentials, callback_origin, revision, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (organization_id) DO UPDATE SET provider = ?2, credentials = ?3, callback_origin = ?4, revision = ?5, updated_at = ?6
         WHERE revision = ?5 - 1 RETURNING revision`,
    organizationId,
    row.provider,
    JSON.stringify(row.credentials),
    row.callbackOrigin,
    row.revision,
    row.updatedAt,
  );
  const [written] = await database.batchOnce([write], async ({ changes }) => [changes ? [{}] : []]);
  return written.length > 0;
}
