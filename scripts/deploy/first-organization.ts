import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../src/accounts/passwords/hash-password.ts';
import { randomToken, sha256Hex } from '../../src/library/security/hash.ts';
import type { DeploymentContext } from './deployment-context.ts';

/** How to reach a deployment; `.deploy/{env}.credentials.json`. */
export interface DeploymentCredentials {
  base_url: string;
  api_key: string;
  email: string;
  password: string;
}

/** The rows of one statement in the deployment's first database. */
export async function askDatabase<T>(
  { cloudflare, account, plan, databaseIds }: DeploymentContext,
  sql: string,
  params: string[] = [],
): Promise<T[]> {
  const id = databaseIds.get(plan.databases[0]!.binding);
  const [answer] = await cloudflare.post<{ results: T[] }[]>(`${account}/d1/database/${id}/query`, { sql, params });
  return answer?.results ?? [];
}

/**
 * Creates the first organization, its user and a key, while the database has none: sign-up is closed where the service is deployed. What they
 * will be is written to a file first, and every statement may be repeated, so that one that breaks off is completed by the next.
 */
export async function createFirstOrganization(world: DeploymentContext): Promise<string> {
  const { files, options, address } = world;
  const known = files.read<DeploymentCredentials>('credentials');
  const [row] = await askDatabase<{ count: number }>(world, 'SELECT count(*) AS count FROM api_key');
  if ((row?.count ?? 0) > 0)
    return known ? `is there, its key is in ${files.shown('credentials')}` : 'the database has keys already; none is made';
  const credentials = known ?? {
    base_url: `${address}/api/v1`,
    api_key: `vaa_${randomToken(32)}`,
    email: options.email,
    password: randomBytes(18).toString('base64url'),
  };
  files.write('credentials', credentials);
  const now = String(Date.now());
  const passwordHash = await hashPassword(credentials.password);
  await askDatabase(
    world,
    'INSERT INTO user (email, name, password_hash, created_at) VALUES (?1, NULL, ?2, CAST(?3 AS INTEGER)) ON CONFLICT (email) DO NOTHING',
    [credentials.email, passwordHash, now],
  );
  await askDatabase(
    world,
    'INSERT INTO organization (name, created_at) SELECT ?1, CAST(?2 AS INTEGER) WHERE NOT EXISTS (SELECT 1 FROM organization WHERE deleting_at IS NULL)',
    [options.organization, now],
  );
  const owner = 'FROM user, (SELECT min(id) AS id FROM organization WHERE deleting_at IS NULL) AS first WHERE user.email = ?1';
  await askDatabase(
    world,
    `INSERT INTO membership (user_id, organization_id, created_at) SELECT user.id, first.id, CAST(?2 AS INTEGER) ${owner} ON CONFLICT DO NOTHING`,
    [credentials.email, now],
  );
  await askDatabase(
    world,
    `INSERT INTO api_key (organization_id, created_by, name, key_prefix, key_hash, scopes, created_at)
      SELECT first.id, user.id, 'First key', ?3, ?4, '["admin"]', CAST(?2 AS INTEGER) ${owner} ON CONFLICT DO NOTHING`,
    [credentials.email, now, credentials.api_key.slice(0, 8), sha256Hex(credentials.api_key)],
  );
  return `"${options.organization}" created; its key and its user's password are in ${files.shown('credentials')}`;
}
