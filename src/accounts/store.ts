import { and, desc, eq, gt, isNull, lt, ne, or, sql } from 'drizzle-orm';
import type { Database, Statement } from '../database/client.ts';
import * as schema from '../database/schema/accounts.ts';
import type { Settings } from '../settings.ts';
import type { KeyScope, Organization } from '../context.ts';
import { toPlan } from '../plan.ts';
import { roleRankSql } from './authentication/roles.ts';
import { requireWithinLimit } from './organizations/plan-limits.ts';

export type OrganizationRow = typeof schema.organization.$inferSelect;
export type UserRow = typeof schema.user.$inferSelect;
export type NewUser = Omit<UserRow, 'id'>;
export type ApiKeyRow = typeof schema.apiKey.$inferSelect;

/** The organization of a catalog row. The plan's variables fill in the limits that the row does not override. */
export function toOrganization(row: OrganizationRow, settings: Settings): Organization {
  return {
    id: row.id,
    name: row.name,
    shard: row.shard,
    defaultCountry: row.defaultCountry,
    timezone: row.timezone,
    minHoursBetweenCalls: row.minHoursBetweenCalls,
    plan: toPlan(
      {
        max_integrations: row.planMaxIntegrations,
        max_contacts: row.planMaxContacts,
        concurrent_call_limit: row.planConcurrentCalls,
        ...row.planLimits,
      },
      settings,
    ),
  };
}

export async function findOrganization(catalog: Database, id: number): Promise<OrganizationRow | undefined> {
  return (await catalog.run(() => catalog.orm.select().from(schema.organization).where(eq(schema.organization.id, id))))[0];
}

export async function updateOrganization(catalog: Database, id: number, change: Partial<OrganizationRow>): Promise<OrganizationRow> {
  return (
    await catalog.write(
      () => catalog.orm.update(schema.organization).set(change).where(eq(schema.organization.id, id)).returning(),
      'idempotent',
    )
  )[0]!;
}

/** Creates an organization, whose rows are on `shard`, with `userId` as its first member. */
export async function insertOrganization(
  catalog: Database,
  userId: number,
  { name, shard }: Pick<OrganizationRow, 'name' | 'shard'>,
  now: number,
): Promise<OrganizationRow> {
  const { orm } = catalog;
  const [created] = await catalog.batchOnce(
    [
      catalog.from<Pick<OrganizationRow, 'id'>>(
        orm.insert(schema.organization).values({ name, shard, createdAt: now }).returning({ id: schema.organization.id }),
      ),
      catalog.from(orm.insert(schema.membership).values({ userId, organizationId: sql`last_insert_rowid()`, createdAt: now })),
    ],
    async ({ rowId }) => [[{ id: rowId }]],
    1,
  );
  return (await findOrganization(catalog, created[0]!.id))!;
}

/** How many organizations a user is a member of, counted up to `most`. */
export async function countMemberships(catalog: Database, userId: number, most: number): Promise<number> {
  const row = await catalog.first(
    catalog.prepare<{ count: number }>('SELECT count(*) AS count FROM (SELECT 1 FROM membership WHERE user_id = ? LIMIT ?)', userId, most),
  );
  return row!.count;
}

export async function findOrganizationOfMember(
  catalog: Database,
  userId: number,
  organizationId: number,
): Promise<OrganizationRow | undefined> {
  const { membership, organization } = schema;
  const query = catalog.orm
    .select({ organization })
    .from(membership)
    .innerJoin(organization, eq(organization.id, membership.organizationId))
    .where(and(eq(membership.userId, userId), eq(membership.organizationId, organizationId), isNull(organization.deletingAt)));
  return (await catalog.run(() => query))[0]?.organization;
}

/** All organizations of a user; the settings allow only few. */
export async function listOrganizationsOfUser(catalog: Database, userId: number): Promise<OrganizationRow[]> {
  const { membership, organization } = schema;
  const query = catalog.orm
    .select({ organization })
    .from(membership)
    .innerJoin(organization, eq(organization.id, membership.organizationId))
    .where(eq(membership.userId, userId))
    .orderBy(membership.organizationId);
  return (await catalog.run(() => query)).map((row) => row.organization);
}

/** The organization a user joined first, selected when signing in. */
export async function findFirstOrganization(catalog: Database, userId: number): Promise<OrganizationRow | undefined> {
  const { membership, organization } = schema;
  const query = catalog.orm
    .select({ organization })
    .from(membership)
    .innerJoin(organization, eq(organization.id, membership.organizationId))
    .where(and(eq(membership.userId, userId), isNull(organization.deletingAt)))
    .orderBy(membership.organizationId)
    .limit(1);
  return (await catalog.run(() => query))[0]?.organization;
}

/** All accounts of an address, the oldest first. */
export async function findUsersByEmail(catalog: Database, email: string): Promise<UserRow[]> {
  const query = catalog.orm.select().from(schema.user).where(hasEmail(email)).orderBy(schema.user.id);
  return catalog.run(() => query);
}

/** A space comes right before `!`. */
const hasEmail = (email: string) =>
  or(eq(schema.user.email, email), and(gt(schema.user.email, `${email} `), lt(schema.user.email, `${email}!`)));

/** Whether one of the users is logged in from `network`, for a batch. */
export const selectSessionFromNetwork = (catalog: Database, email: string, network: string): Statement =>
  catalog.prepare(
    `SELECT 1 FROM user u CROSS JOIN session s WHERE (u.email = ?1 OR (u.email > ?1 || ' ' AND u.email < ?1 || '!'))
       AND s.user_id = u.id AND s.network = ?2 LIMIT 1`,
    email,
    network,
  );

export async function findUser(catalog: Database, id: number): Promise<UserRow | undefined> {
  return (await catalog.run(() => catalog.orm.select().from(schema.user).where(eq(schema.user.id, id))))[0];
}

/** Sets a new password. Ends all sessions except that of `keptToken`, and deletes tokens that reset the password. */
export async function setPassword(
  catalog: Database,
  { userId, passwordHash, keptToken }: { userId: number; passwordHash: string; keptToken: string },
): Promise<void> {
  const { orm } = catalog;
  const { user, session, passwordReset } = schema;
  await catalog.batch(
    [
      catalog.from(orm.update(user).set({ passwordHash }).where(eq(user.id, userId))),
      catalog.from(orm.delete(session).where(and(eq(session.userId, userId), ne(session.tokenHash, keptToken)))),
      catalog.from(orm.delete(passwordReset).where(eq(passwordReset.userId, userId))),
    ],
    'idempotent',
  );
}

/** A user and one organization; the organization is null when `organizationId` is null or unknown. */
export async function findUserAndOrganization(catalog: Database, userId: number, organizationId: number | null) {
  const { user, organization } = schema;
  const query = catalog.orm
    .select({ user, organization })
    .from(user)
    .leftJoin(organization, sql`${organization.id} = ${organizationId}`)
    .where(eq(user.id, userId));
  return (await catalog.run(() => query))[0];
}

/** Undefined when the handle is taken. */
export async function insertUser(catalog: Database, user: NewUser): Promise<UserRow | undefined> {
  const { email, passwordHash } = schema.user;
  // A user with the same handle and hash was inserted by an earlier attempt of this request.
  const query = catalog.orm
    .insert(schema.user)
    .values(user)
    .onConflictDoUpdate({ target: email, set: { email: user.email }, setWhere: eq(passwordHash, user.passwordHash) })
    .returning();
  return (await catalog.write(() => query, 'user.email'))[0];
}

// Sessions

export async function insertSession(catalog: Database, session: typeof schema.session.$inferInsert): Promise<void> {
  await catalog.write(() => catalog.orm.insert(schema.session).values(session).onConflictDoNothing(), 'session.token_hash');
}

export async function deleteSession(catalog: Database, tokenHash: string): Promise<void> {
  await catalog.write(() => catalog.orm.delete(schema.session).where(eq(schema.session.tokenHash, tokenHash)), 'idempotent');
}

export async function deleteSessionsOfUser(catalog: Database, userId: number): Promise<void> {
  await catalog.write(() => catalog.orm.delete(schema.session).where(eq(schema.session.userId, userId)), 'idempotent');
}

export type SessionRow = typeof schema.session.$inferSelect;

/** The live sessions of a user, the newest first. */
export async function listSessions(catalog: Database, userId: number, now: number, limit: number): Promise<SessionRow[]> {
  const { session } = schema;
  const query = catalog.orm
    .select()
    .from(session)
    .where(and(eq(session.userId, userId), gt(session.expiresAt, now)))
    .orderBy(desc(session.createdAt))
    .limit(limit);
  return catalog.run(() => query);
}

/** Ends the session of a user whose token's hash begins with `id`. Returns whether there was one. */
export async function deleteSessionById(catalog: Database, userId: number, id: string): Promise<boolean> {
  const ended = await catalog.all(
    catalog.prepare("DELETE FROM session WHERE user_id = ?1 AND token_hash >= ?2 AND token_hash < ?2 || 'g' RETURNING 1", userId, id),
    'idempotent',
  );
  return ended.length > 0;
}

export async function selectOrganization(catalog: Database, tokenHash: string, organizationId: number): Promise<void> {
  const query = catalog.orm.update(schema.session).set({ organizationId }).where(eq(schema.session.tokenHash, tokenHash));
  await catalog.write(() => query, 'idempotent');
}

/** The session, its selected organization and the role of its user there, by one indexed read. */
export async function findSession(catalog: Database, tokenHash: string, now: number) {
  const { session, organization, membership } = schema;
  const query = catalog.orm
    .select({ session, organization, role: membership.role })
    .from(session)
    .leftJoin(organization, eq(organization.id, session.organizationId))
    .leftJoin(membership, and(eq(membership.userId, session.userId), eq(membership.organizationId, session.organizationId)))
    .where(and(eq(session.tokenHash, tokenHash), sql`${session.expiresAt} > ${now}`, isNull(organization.deletingAt)));
  return (await catalog.run(() => query))[0];
}

/** Takes what may be used once, such as a link or the answer to a challenge. `expiresAt`: until when it could be used. False when it was taken before. */
export async function useOnce(catalog: Database, hash: string, expiresAt: number): Promise<boolean> {
  const [inserted] = await catalog.batchOnce(
    [
      catalog.prepare<{ hash: string }>(
        'INSERT INTO used_challenge (hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING hash',
        hash,
        expiresAt,
      ),
    ],
    async ({ changes }) => [changes ? [{ hash }] : []],
  );
  return inserted.length > 0;
}

// API keys

/**
 * Inserts a key while the person who makes it is a member of the organization; undefined: that person is none any more. Repeatable: a key that is
 * inserted again stays one key.
 */
export async function insertApiKey(
  catalog: Database,
  organization: Organization,
  key: Omit<ApiKeyRow, 'id' | 'archivedAt' | 'organizationId'>,
): Promise<ApiKeyRow | undefined> {
  const insert = catalog.prepare(
    `INSERT INTO api_key (organization_id, created_by, name, key_prefix, key_hash, scopes, expires_at, created_at)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM membership WHERE user_id = ?2 AND organization_id = ?1)
     ON CONFLICT (key_hash) DO NOTHING`,
    organization.id,
    key.createdBy,
    key.name,
    key.keyPrefix,
    key.keyHash,
    JSON.stringify(key.scopes),
    key.expiresAt,
    key.createdAt,
  );
  await catalog.batch([insert, requireWithinLimit(catalog, organization, 'max_api_keys')], 'api_key.key_hash');
  return (await findApiKeyByHash(catalog, key.keyHash))?.apiKey;
}

/** The key, its organization and the role of the person who made it, by one indexed read. */
export async function findApiKeyByHash(catalog: Database, keyHash: string) {
  const { apiKey, organization, membership } = schema;
  const query = catalog.orm
    .select({ apiKey, organization, role: membership.role })
    .from(apiKey)
    .innerJoin(organization, eq(organization.id, apiKey.organizationId))
    .leftJoin(membership, and(eq(membership.userId, apiKey.createdBy), eq(membership.organizationId, apiKey.organizationId)))
    .where(eq(apiKey.keyHash, keyHash));
  return (await catalog.run(() => query))[0];
}

export async function findApiKey(catalog: Database, organizationId: number, id: number): Promise<ApiKeyRow | undefined> {
  const { apiKey } = schema;
  const query = catalog.orm
    .select()
    .from(apiKey)
    .where(and(eq(apiKey.id, id), eq(apiKey.organizationId, organizationId)));
  return (await catalog.run(() => query))[0];
}

export interface ApiKeyFilter {
  isArchived: boolean;
  search?: string | undefined;
  before?: number | undefined;
  limit: number;
  offset: number;
}

export async function listApiKeys(
  catalog: Database,
  organizationId: number,
  filter: ApiKeyFilter,
): Promise<{ rows: ApiKeyRow[]; total: number }> {
  const { apiKey } = schema;
  const where = and(
    eq(apiKey.organizationId, organizationId),
    filter.isArchived ? sql`${apiKey.archivedAt} IS NOT NULL` : isNull(apiKey.archivedAt),
    filter.search ? sql`instr(lower(${apiKey.name}), ${filter.search.toLowerCase()}) > 0` : undefined,
  );
  const page = and(where, filter.before === undefined ? undefined : lt(apiKey.id, filter.before));
  const { orm } = catalog;
  const [rows, counted] = await catalog.run(() =>
    orm.batch([
      orm.select().from(apiKey).where(page).orderBy(desc(apiKey.id)).limit(filter.limit).offset(filter.offset),
      orm
        .select({ total: sql<number>`count(*)` })
        .from(apiKey)
        .where(where),
    ]),
  );
  return { rows, total: counted[0]!.total };
}

/** Archives a key. An archived key keeps its moment. */
export async function archiveApiKey(catalog: Database, organizationId: number, id: number, now: number): Promise<ApiKeyRow | undefined> {
  const { apiKey } = schema;
  const own = and(eq(apiKey.id, id), eq(apiKey.organizationId, organizationId));
  const archivedAt = sql`coalesce(${apiKey.archivedAt}, ${now})`;
  return (await catalog.write(() => catalog.orm.update(apiKey).set({ archivedAt }).where(own).returning(), 'idempotent'))[0];
}

/** Whether the person who made the key is a member still, with a role that is not above that of the user `?3`. */
const isMakerBelowSql = `EXISTS (SELECT 1 FROM membership m CROSS JOIN membership c WHERE m.user_id = api_key.created_by
  AND m.organization_id = ?2 AND c.user_id = ?3 AND c.organization_id = ?2 AND ${roleRankSql('m.role')} <= ${roleRankSql('c.role')})`;

/** Whoever has left may know the key still, which would be an owner's as the key of the owner `?3`. */
const isGivenToOwnerSql = `(EXISTS (SELECT 1 FROM json_each(api_key.scopes) WHERE value = 'admin')
  AND EXISTS (SELECT 1 FROM membership WHERE user_id = ?3 AND organization_id = ?2 AND role = 'owner')
  AND NOT EXISTS (SELECT 1 FROM membership WHERE user_id = api_key.created_by AND organization_id = ?2))`;

/**
 * Makes a key work again that is archived, or whose maker has left, while `userId` is a member. The key is then that of `userId`, unless its maker is
 * a member whose role is not above. A key that works stays as it is, and so does the `admin` key of somebody who has left where `userId` is an owner.
 */
export async function reactivateApiKey(
  catalog: Database,
  organization: Organization,
  { id, userId }: { id: number; userId: number },
): Promise<ApiKeyRow | undefined> {
  const reactivate = catalog.prepare(
    `UPDATE api_key SET archived_at = NULL, created_by = iif(${isMakerBelowSql}, created_by, ?3)
     WHERE id = ?1 AND organization_id = ?2
       AND (archived_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM membership WHERE user_id = api_key.created_by AND organization_id = ?2))
       AND EXISTS (SELECT 1 FROM membership WHERE user_id = ?3 AND organization_id = ?2) AND NOT ${isGivenToOwnerSql}`,
    id,
    organization.id,
    userId,
  );
  await catalog.batch([reactivate, requireWithinLimit(catalog, organization, 'max_api_keys')], 'idempotent');
  return findApiKey(catalog, organization.id, id);
}

export const toScopes = (row: ApiKeyRow): KeyScope[] => row.scopes as KeyScope[];
