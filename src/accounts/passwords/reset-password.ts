import { catalog } from '../../database/shards.ts';
import { conflict, notFound, unauthorized } from '../../library/errors.ts';
import { randomToken, sha256Hex } from '../../library/security/hash.ts';
import { actAs } from '../../database/audit/actor.ts';
import { toLinkActor } from '../authentication/link-actor.ts';
import { requireRank } from '../members/require-rank.ts';
import { hashUniquePassword } from './change-password.ts';
import type { Caller, Context } from '../../context.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import * as members from '../members/store.ts';
import { requireStrongPassword } from './require-strong-password.ts';
import * as store from '../store.ts';

export const resetHours = 24;

/**
 * A token with which a member chooses a new password once, within a day. A newer token replaces the older. Only its hash is stored. Throws
 * 404, and 409 for a user who is also a member of other organizations: this organization's admins must not get into those.
 */
export async function createPasswordReset(context: Context, caller: Caller, userId: number): Promise<{ token: string; expiresAt: number }> {
  const accounts = catalog(context.bindings);
  const organizationId = context.organization.id;
  const member = await members.findMember(accounts, organizationId, userId);
  if (!member) throw notFound('Member');
  requireRank(caller, member.role, 'reset the password of a member');
  if (member.isElsewhere)
    throw conflict('This person is a member of other organizations, too, and can change the password only by the one of before');
  const now = context.clock();
  const token = `var_${randomToken(32)}`;
  const expiresAt = now + resetHours * 3_600_000;
  await members.upsertPasswordReset(accounts, {
    userId,
    tokenHash: sha256Hex(token),
    organizationId,
    createdBy: caller.userId,
    createdAt: now,
    expiresAt,
  });
  return { token, expiresAt };
}

/** Sets the password of the token's user and ends all their sessions; the token is used up. Throws 401 and 422. */
export async function resetPassword(
  bindings: Env,
  input: { token: string; new_password: string },
  address: string | undefined,
  now: number,
): Promise<void> {
  const accounts = catalog(bindings);
  const tokenHash = sha256Hex(input.token);
  const found = await members.findPasswordReset(accounts, tokenHash, now);
  if (!found) throw invalidResetLinkError();
  const { user, organization } = found;
  await requireStrongPassword('new_password', input.new_password, [emailFromHandle(user.email), user.name, organization?.name]);
  const passwordHash = await hashUniquePassword(bindings, user as store.UserRow, input.new_password);
  const consume = () => members.consumePasswordReset(accounts, { tokenHash, userId: user.id, passwordHash, now });
  const actor = toLinkActor('members.resetPassword', { organizationId: organization?.id ?? null, userId: user.id, address, now });
  if (!(await actAs(actor, consume))) throw invalidResetLinkError();
}

const invalidResetLinkError = () =>
  unauthorized('This link is unknown, used or older than a day; ask an admin of your organization for another');
