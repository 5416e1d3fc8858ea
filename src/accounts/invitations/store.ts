import type { Database } from '../../database/client.ts';
import type { invitation } from '../../database/schema/accounts.ts';
import { roleRankSql } from '../authentication/roles.ts';
import type { NewUser } from '../store.ts';

export type InvitationRow = Omit<typeof invitation.$inferSelect, 'tokenHash'>;

const columns = `id, organization_id AS organizationId, role, email, created_by AS createdBy, created_at AS createdAt, expires_at AS expiresAt,
  accepted_at AS acceptedAt, accepted_by AS acceptedBy, revoked_at AS revokedAt`;
const isOpenSql = 'accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ?2';

/** Inserts an invitation, unless the organization has `most` open ones: then null. Repeatable: the token is unique. */
export async function insertInvitation(
  catalog: Database,
  row: Pick<InvitationRow, 'organizationId' | 'role' | 'email' | 'createdBy' | 'createdAt' | 'expiresAt'> & { tokenHash: string },
  most: number,
): Promise<InvitationRow | null> {
  const [, found] = await catalog.batch(
    [
      catalog.prepare(
        `INSERT INTO invitation (organization_id, role, email, token_hash, created_by, created_at, expires_at) SELECT ?1, ?3, ?4, ?5, ?6, ?2, ?7
         WHERE (SELECT count(*) FROM invitation WHERE organization_id = ?1 AND ${isOpenSql}) < ?8 ON CONFLICT (token_hash) DO NOTHING`,
        row.organizationId,
        row.createdAt,
        row.role,
        row.email,
        row.tokenHash,
        row.createdBy,
        row.expiresAt,
        most,
      ),
      catalog.prepare<InvitationRow>(`SELECT ${columns} FROM invitation WHERE token_hash = ?`, row.tokenHash),
    ],
    'invitation.token_hash',
  );
  return found[0] ?? null;
}

/** The open invitations of an organization, the newest first; they are few. */
export const listOpenInvitations = (catalog: Database, organizationId: number, now: number): Promise<InvitationRow[]> =>
  catalog.all(
    catalog.prepare<InvitationRow>(
      `SELECT ${columns} FROM invitation WHERE organization_id = ?1 AND ${isOpenSql} ORDER BY id DESC`,
      organizationId,
      now,
    ),
  );

/** Revokes an open invitation. An invitation that is revoked already stays as it is. Null: the organization has no such open one. */
export async function revokeInvitation(catalog: Database, organizationId: number, id: number, now: number): Promise<InvitationRow | null> {
  const [, found] = await catalog.batch(
    [
      catalog.prepare(
        'UPDATE invitation SET revoked_at = ?3 WHERE id = ?1 AND organization_id = ?2 AND accepted_at IS NULL AND revoked_at IS NULL',
        id,
        organizationId,
        now,
      ),
      catalog.prepare<InvitationRow>(
        `SELECT ${columns} FROM invitation WHERE id = ? AND organization_id = ? AND revoked_at IS NOT NULL`,
        id,
        organizationId,
      ),
    ],
    'idempotent',
  );
  return found[0] ?? null;
}

/** Whoever made it must still be a member who may give its role. */
const isBackedSql = `EXISTS (SELECT 1 FROM membership b WHERE b.user_id = i.created_by AND b.organization_id = i.organization_id
  AND ${roleRankSql('b.role')} >= ${roleRankSql('i.role')} AND ${roleRankSql('b.role')} >= ${roleRankSql("'admin'")})`;
const isAcceptableSql = `i.token_hash = ?1 AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > ?2 AND ${isBackedSql}`;

export interface OpenInvitation {
  id: number;
  organizationId: number;
  organizationName: string;
  role: InvitationRow['role'];
  email: string | null;
  expiresAt: number;
}

/** The invitation of a token that can be accepted now; null: there is none. */
export const findAcceptableInvitation = (catalog: Database, tokenHash: string, now: number): Promise<OpenInvitation | null> =>
  catalog.first(
    catalog.prepare<OpenInvitation>(
      `SELECT i.id, i.organization_id AS organizationId, o.name AS organizationName, i.role, i.email, i.expires_at AS expiresAt
       FROM invitation i CROSS JOIN organization o WHERE ${isAcceptableSql} AND o.id = i.organization_id AND o.deleting_at IS NULL`,
      tokenHash,
      now,
    ),
  );

const isAcceptableNowSql = `${isAcceptableSql} AND EXISTS (SELECT 1 FROM organization o WHERE o.id = i.organization_id AND o.deleting_at IS NULL)`;

/** Makes a user a member with the role of the invitation, which is used up. Returns the user's id; null: somebody was faster. */
export async function acceptInvitation(
  catalog: Database,
  { tokenHash, userId, now }: { tokenHash: string; userId: number; now: number },
): Promise<number | null> {
  const [, joined] = await catalog.batchOnce(
    [
      catalog.prepare(
        `UPDATE invitation AS i SET accepted_at = ?2, accepted_by = ?3 WHERE ${isAcceptableNowSql}
           AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.user_id = ?3 AND m.organization_id = i.organization_id)`,
        tokenHash,
        now,
        userId,
      ),
      insertMembership(catalog, tokenHash),
    ],
    async ({ changes }) => [[], changes ? [{ userId }] : []],
  );
  return joined![0]?.userId ?? null;
}

/**
 * Creates a user who becomes a member with the role of the invitation, which is used up: all of it or nothing. Returns the user's id; null: somebody
 * was faster, or the handle is taken.
 */
export async function acceptWithNewUser(
  catalog: Database,
  { tokenHash, account, now }: { tokenHash: string; account: NewUser; now: number },
): Promise<number | null> {
  const newUser = '(SELECT id FROM user WHERE email = ?3 AND password_hash = ?4)';
  const own = [account.email, account.passwordHash] as const;
  const [, , , joined] = await catalog.batchOnce(
    [
      catalog.prepare(
        `INSERT INTO user (email, name, password_hash, created_at) SELECT ?3, ?5, ?4, ?2 FROM invitation i WHERE ${isAcceptableNowSql}
         ON CONFLICT (email) DO NOTHING`,
        tokenHash,
        now,
        ...own,
        account.name,
      ),
      // The audit log names the user, whose id nobody knew when the transaction began.
      catalog.prepare(
        `UPDATE audit_actor SET user_id = u.id, record_id = u.id FROM user u WHERE u.email = ?1 AND u.password_hash = ?2`,
        ...own,
      ),
      catalog.prepare(
        `UPDATE invitation AS i SET accepted_at = ?2, accepted_by = ${newUser} WHERE ${isAcceptableNowSql} AND ${newUser} IS NOT NULL`,
        tokenHash,
        now,
        ...own,
      ),
      insertMembership(catalog, tokenHash),
    ],
    async ({ changes }) => [[], [], [], changes ? await catalog.all(selectAcceptedBy(catalog, tokenHash)) : []],
  );
  return joined![0]?.userId ?? null;
}

/** Stands right behind the statement that uses the invitation up. */
const insertMembership = (catalog: Database, tokenHash: string) =>
  catalog.prepare<{ userId: number }>(
    `INSERT INTO membership (user_id, organization_id, role, created_at) SELECT accepted_by, organization_id, role, accepted_at FROM invitation
     WHERE token_hash = ?1 AND accepted_by IS NOT NULL AND changes() > 0 RETURNING user_id AS userId`,
    tokenHash,
  );

const selectAcceptedBy = (catalog: Database, tokenHash: string) =>
  catalog.prepare<{ userId: number }>('SELECT accepted_by AS userId FROM invitation WHERE token_hash = ?', tokenHash);
