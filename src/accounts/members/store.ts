import { eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import * as schema from '../../database/schema/accounts.ts';
import type { Role } from '../../database/schema/accounts.ts';
import { roleRankSql } from '../authentication/roles.ts';
import type { UserRow } from '../store.ts';

export interface MemberRow {
  id: number;
  email: string;
  name: string | null;
  joinedAt: number;
  role: Role;
}

/** Members of an organization, the oldest first. They are few. */
export async function listMembers(catalog: Database, organizationId: number): Promise<MemberRow[]> {
  return catalog.all(
    catalog.prepare<MemberRow>(
      `SELECT u.id, u.email, u.name, m.created_at AS joinedAt, m.role FROM membership m CROSS JOIN user u
       WHERE m.organization_id = ? AND u.id = m.user_id ORDER BY m.created_at, u.id LIMIT 500`,
      organizationId,
    ),
  );
}

/** Null when the user is no member. `isElsewhere`: of another organization, too. */
export async function findMember(
  catalog: Database,
  organizationId: number,
  userId: number,
): Promise<{ id: number; role: Role; isElsewhere: boolean } | null> {
  const row = await catalog.first(
    catalog.prepare<{ id: number; role: Role; elsewhere: number }>(
      `SELECT user_id AS id, role, EXISTS (SELECT 1 FROM membership o WHERE o.user_id = ?1 AND o.organization_id <> ?2) AS elsewhere
       FROM membership WHERE user_id = ?1 AND organization_id = ?2`,
      userId,
      organizationId,
    ),
  );
  return row && { id: row.id, role: row.role, isElsewhere: row.elsewhere === 1 };
}

/** A user's newer token replaces the older one. */
export async function upsertPasswordReset(catalog: Database, reset: typeof schema.passwordReset.$inferInsert): Promise<void> {
  const query = catalog.orm.insert(schema.passwordReset).values(reset);
  await catalog.write(() => query.onConflictDoUpdate({ target: schema.passwordReset.userId, set: reset }), 'idempotent');
}

/**
 * A token that an admin made is valid while its user is a member of the organization and of no other, and while its maker is an admin there
 * whose role is not below the role of the user.
 */
const isValidResetSql = `r.token_hash = ?1 AND r.expires_at > ?2 AND (r.organization_id = 0 OR (
  EXISTS (SELECT 1 FROM membership m CROSS JOIN membership b WHERE m.user_id = r.user_id AND m.organization_id = r.organization_id
    AND b.user_id = r.created_by AND b.organization_id = r.organization_id
    AND ${roleRankSql('b.role')} >= ${roleRankSql('m.role')} AND ${roleRankSql('b.role')} >= ${roleRankSql("'admin'")})
  AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.user_id = r.user_id AND m.organization_id <> r.organization_id)))`;

export async function findPasswordReset(
  catalog: Database,
  tokenHash: string,
  now: number,
): Promise<{ user: UserRow; organization: { id: number; name: string } | null } | null> {
  const row = await catalog.first(
    catalog.prepare<UserRow & { organizationId: number; organizationName: string | null }>(
      `SELECT u.id, u.email, u.name, u.password_hash AS passwordHash, u.created_at AS createdAt, r.organization_id AS organizationId,
         (SELECT o.name FROM organization o WHERE o.id = r.organization_id) AS organizationName
       FROM password_reset r CROSS JOIN user u WHERE ${isValidResetSql} AND u.id = r.user_id`,
      tokenHash,
      now,
    ),
  );
  if (!row) return null;
  const { organizationId, organizationName, ...user } = row;
  return { user, organization: organizationName === null ? null : { id: organizationId, name: organizationName } };
}

/** False when the token was used in the meantime. */
export async function consumePasswordReset(
  catalog: Database,
  { tokenHash, userId, passwordHash, now }: { tokenHash: string; userId: number; passwordHash: string; now: number },
): Promise<boolean> {
  const [changed] = await catalog.batchOnce(
    [
      catalog.prepare(
        `UPDATE user SET password_hash = ?3 WHERE id = ?4 AND EXISTS (SELECT 1 FROM password_reset r WHERE ${isValidResetSql} AND r.user_id = user.id) RETURNING id`,
        tokenHash,
        now,
        passwordHash,
        userId,
      ),
      catalog.prepare(
        'DELETE FROM session WHERE user_id = (SELECT user_id FROM password_reset WHERE token_hash = ?1) AND EXISTS (SELECT 1 FROM user WHERE id = session.user_id AND password_hash = ?2)',
        tokenHash,
        passwordHash,
      ),
      // Whoever needs a link may have lost a device, or somebody else may have added a passkey.
      catalog.prepare(
        'DELETE FROM passkey WHERE user_id = (SELECT user_id FROM password_reset WHERE token_hash = ?1) AND EXISTS (SELECT 1 FROM user WHERE id = passkey.user_id AND password_hash = ?2)',
        tokenHash,
        passwordHash,
      ),
      catalog.from(catalog.orm.delete(schema.passwordReset).where(eq(schema.passwordReset.tokenHash, tokenHash))),
    ],
    async () => [[{ id: userId }]],
  );
  return changed!.length > 0;
}

/** Organizations whose only owner is the user, without those that are being deleted. */
export async function listOrganizationsWithOnlyOwner(
  catalog: Database,
  userId: number,
): Promise<{ id: number; name: string; memberCount: number }[]> {
  return catalog.all(
    catalog.prepare<{ id: number; name: string; memberCount: number }>(
      `SELECT o.id, o.name, (SELECT count(*) FROM membership x WHERE x.organization_id = o.id) AS memberCount
       FROM membership m CROSS JOIN organization o WHERE m.user_id = ?1 AND ${isOnlyOwnerSql} ORDER BY o.id`,
      userId,
    ),
  );
}

const isOnlyOwnerSql = `o.id = m.organization_id AND o.deleting_at IS NULL AND m.role = 'owner'
  AND NOT EXISTS (SELECT 1 FROM membership x WHERE x.organization_id = m.organization_id AND x.user_id <> m.user_id AND x.role = 'owner')`;

/** Holds unless the organization `?2` would be without an owner if `?1` were none. */
const hasOtherOwnerSql = `(role <> 'owner' OR EXISTS (SELECT 1 FROM membership o WHERE o.organization_id = ?2 AND o.user_id <> ?1 AND o.role = 'owner'))`;

/**
 * Changes a member's role, from the role that the caller has seen. False when the member has another role by now, or would leave the
 * organization without an owner.
 */
export async function changeRole(
  catalog: Database,
  { organizationId, userId, from, to }: { organizationId: number; userId: number; from: Role; to: Role },
): Promise<boolean> {
  const [changed] = await catalog.batchOnce(
    [
      catalog.prepare(
        `UPDATE membership SET role = ?3 WHERE user_id = ?1 AND organization_id = ?2 AND role = ?4 AND (?3 = 'owner' OR ${hasOtherOwnerSql}) RETURNING user_id`,
        userId,
        organizationId,
        to,
        from,
      ),
    ],
    async ({ changes }) => [changes ? [{ user_id: userId }] : []],
  );
  return changed!.length > 0;
}

/** Makes `toUserId` an owner and gives `fromUserId`, an owner, the role `nextRole`. False, with nothing changed, when one is no member or no owner. */
export async function transferOwnership(
  catalog: Database,
  { organizationId, fromUserId, toUserId, nextRole }: { organizationId: number; fromUserId: number; toUserId: number; nextRole: Role },
): Promise<boolean> {
  const [changed] = await catalog.batchOnce(
    [
      catalog.prepare(
        `UPDATE membership SET role = 'owner' WHERE user_id = ?1 AND organization_id = ?2
           AND EXISTS (SELECT 1 FROM membership f WHERE f.user_id = ?3 AND f.organization_id = ?2 AND f.role = 'owner') RETURNING user_id`,
        toUserId,
        organizationId,
        fromUserId,
      ),
      catalog.prepare(
        `UPDATE membership SET role = ?3 WHERE user_id = ?1 AND organization_id = ?2 AND role = 'owner'
           AND EXISTS (SELECT 1 FROM membership t WHERE t.user_id = ?4 AND t.organization_id = ?2 AND t.role = 'owner')`,
        fromUserId,
        organizationId,
        nextRole,
        toUserId,
      ),
    ],
    async ({ changes }) => [changes ? [{ user_id: toUserId }] : []],
  );
  return changed!.length > 0;
}

/** Ends the sessions that a user has in the organization. */
export async function deleteSessionsInOrganization(catalog: Database, organizationId: number, userId: number): Promise<number> {
  const ended = await catalog.all(
    catalog.prepare('DELETE FROM session WHERE user_id = ? AND organization_id = ? RETURNING 1', userId, organizationId),
    'idempotent',
  );
  return ended.length;
}

/** A deleted user's row stays without content: records of others name its id, which must never be assigned again. */
const anonymizedColumns = "email = ' ' || id, name = NULL, password_hash = 'none'";
const isDeletedUserSql = "EXISTS (SELECT 1 FROM user WHERE id = ?1 AND email = ' ' || id)";

/** Deletes a user. Returns the organizations that the user has left; null when the user is the only owner of an organization. */
export async function deleteUser(catalog: Database, userId: number, now: number): Promise<number[] | null> {
  const { membership } = schema;
  const query = catalog.orm.select({ id: membership.organizationId }).from(membership).where(eq(membership.userId, userId));
  const organizations = await catalog.run(() => query);
  const [deleted] = await catalog.batchOnce(
    [
      catalog.prepare(
        `UPDATE user SET ${anonymizedColumns} WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM membership m CROSS JOIN organization o WHERE m.user_id = ?1 AND ${isOnlyOwnerSql}) RETURNING id`,
        userId,
      ),
      archiveKeysOfUser(catalog, userId, now),
      catalog.prepare(`DELETE FROM membership WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
      catalog.prepare(`DELETE FROM session WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
      catalog.prepare(`DELETE FROM password_reset WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
      catalog.prepare(`DELETE FROM passkey WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
    ],
    async () => [[{ id: userId }]],
  );
  return deleted!.length ? organizations.map(({ id }) => id) : null;
}

/** Runs before the memberships are deleted: the keys are found by the memberships. */
const archiveKeysOfUser = (catalog: Database, userId: number, now: number) =>
  catalog.prepare(
    `UPDATE api_key SET archived_at = ?2 WHERE archived_at IS NULL AND created_by = ?1 AND ${isDeletedUserSql}
       AND organization_id IN (SELECT organization_id FROM membership WHERE user_id = ?1)`,
    userId,
    now,
  );

/**
 * Removes a member, whose sessions in the organization end, and whose keys, invitations and password links of it stop working. `role` is the
 * role that the caller has seen; null: any. False when the member is gone, is the only owner, or has another role by now. Without
 * `keepsAccount`, a user without another organization is deleted.
 */
export async function removeMember(
  catalog: Database,
  { organizationId, userId, role, keepsAccount }: { organizationId: number; userId: number; role: Role | null; keepsAccount: boolean },
  now: number,
): Promise<boolean> {
  const isOut = 'NOT EXISTS (SELECT 1 FROM membership WHERE user_id = ?1 AND organization_id = ?2)';
  const [removed] = await catalog.batchOnce(
    [
      catalog.prepare(
        `DELETE FROM membership WHERE user_id = ?1 AND organization_id = ?2 AND role = coalesce(?3, role) AND ${hasOtherOwnerSql} RETURNING user_id`,
        userId,
        organizationId,
        role,
      ),
      catalog.prepare(
        `UPDATE api_key SET archived_at = ?3 WHERE archived_at IS NULL AND created_by = ?1 AND organization_id = ?2 AND ${isOut}`,
        userId,
        organizationId,
        now,
      ),
      catalog.prepare(`DELETE FROM session WHERE user_id = ?1 AND organization_id = ?2 AND ${isOut}`, userId, organizationId),
      catalog.prepare(
        `DELETE FROM password_reset WHERE organization_id = ?2 AND (user_id = ?1 OR created_by = ?1) AND ${isOut}`,
        userId,
        organizationId,
      ),
      catalog.prepare(
        `UPDATE invitation SET revoked_at = ?3 WHERE organization_id = ?2 AND created_by = ?1 AND accepted_at IS NULL AND revoked_at IS NULL AND ${isOut}`,
        userId,
        organizationId,
        now,
      ),
      ...(keepsAccount ? [] : deleteUserWithoutOrganization(catalog, { userId, organizationId, isOut })),
    ],
    async ({ changes }) => [changes ? [{ user_id: userId }] : []],
    1,
  );
  return removed!.length > 0;
}

const deleteUserWithoutOrganization = (
  catalog: Database,
  { userId, organizationId, isOut }: { userId: number; organizationId: number; isOut: string },
): Statement[] => [
  catalog.prepare(
    `UPDATE user SET ${anonymizedColumns} WHERE id = ?1 AND ${isOut} AND NOT EXISTS (SELECT 1 FROM membership WHERE user_id = ?1)`,
    userId,
    organizationId,
  ),
  catalog.prepare(`DELETE FROM session WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
  catalog.prepare(`DELETE FROM password_reset WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
  catalog.prepare(`DELETE FROM passkey WHERE user_id = ?1 AND ${isDeletedUserSql}`, userId),
];
