import { catalog } from '../database/shards.ts';
import { conflict, notFound, unauthorized } from '../library/errors.ts';
import { randomToken, sha256Hex } from '../library/hash.ts';
import { hashForAddress } from './change-password.ts';
import type { Caller, Context } from './context.ts';
import { addressOf } from './email-handles.ts';
import * as members from './member-store.ts';
import { requireGoodPassword } from './password-policy.ts';
import * as store from './store.ts';

export const resetHours = 24;

/**
 * What lets a member choose a new password once, within a day; a newer one takes the place of an older. Only a hash of it is kept. Throws
 * 404, and 409 for members of other organizations, too, which this organization's admins must not get into.
 */
export async function offerReset(context: Context, caller: Caller, userId: number): Promise<{ token: string; expiresAt: number }> {
  const accounts = catalog(context.bindings);
  const organizationId = context.organization.id;
  const member = await members.findMember(accounts, organizationId, userId);
  if (!member) throw notFound('Member');
  if (member.isElsewhere)
    throw conflict('This person is a member of other organizations, too, and can change the password only by the one of before');
  const now = context.clock();
  const token = `var_${randomToken(32)}`;
  const expiresAt = now + resetHours * 3_600_000;
  await members.putReset(accounts, {
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
export async function resetPassword(bindings: Env, input: { token: string; new_password: string }, now: number): Promise<void> {
  const accounts = catalog(bindings);
  const tokenHash = sha256Hex(input.token);
  const found = await members.findReset(accounts, tokenHash, now);
  if (!found) throw usedUp();
  const { user } = found;
  requireGoodPassword('new_password', input.new_password, [addressOf(user.email), user.name, found.organizationName]);
  const passwordHash = await hashForAddress(bindings, user as store.UserRow, input.new_password);
  if (!(await members.useReset(accounts, { tokenHash, userId: user.id, passwordHash, now }))) throw usedUp();
}

const usedUp = () => unauthorized('This link is unknown, used or older than a day; ask an admin of your organization for another');
