import type { Database, Row, Statement } from '../../database/client.ts';
import type { StoredCredentials } from './credentials.ts';

export interface ConfigRow {
  /** Empty: none is selected. */
  provider: string;
  credentials: Record<string, StoredCredentials | null>;
  callbackOrigin: string;
  /** 1 when it is written first. */
  revision: number;
  /** Epoch ms. */
  updatedAt: number;
}

/** `toConfigRow` reads its answer. */
export const configStatement = (database: Database, organizationId: number): Statement =>
  database.prepare('SELECT * FROM messaging_config WHERE organization_id = ?', organizationId);

export function toConfigRow([row]: Row[]): ConfigRow | null {
  if (row === undefined) return null;
  return {
    provider: row['provider'] as string,
    credentials: JSON.parse(row['credentials'] as string) as ConfigRow['credentials'],
    callbackOrigin: row['callback_origin'] as string,
    revision: row['revision'] as number,
    updatedAt: row['updated_at'] as number,
  };
}

export const findConfig = async (database: Database, organizationId: number): Promise<ConfigRow | null> =>
  toConfigRow(await database.all(configStatement(database, organizationId)));

/** Whether it was written: not when the configuration is no longer the one of the revision before (0: there was none). */
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
  return written!.length > 0;
}
