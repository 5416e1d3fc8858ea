import { catalog } from '../../database/shards.ts';
import type { Role } from '../../database/schema/accounts.ts';
import { conflict, invalidAt, notFound } from '../../library/errors.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import type { Caller, Context } from '../../context.ts';
import { requireRank } from './require-rank.ts';
import * as members from './store.ts';

/**
 * Gives a member another role. Sessions of the member have it at once, keys within 5 seconds. Throws 404, 403 where the old or the new role is
 * above the caller's, and 409 where no owner would be left.
 */
export async function changeRole(context: Context, caller: Caller, userId: number, role: Role): Promise<void> {
  const accounts = catalog(context.bindings);
  const { id, name } = context.organization;
  const member = await members.findMember(accounts, id, userId);
  if (!member) throw notFound('Member');
  requireRank(caller, member.role, 'change a member');
  requireRank(caller, role, 'make a member one');
  if (member.role === role) return;
  if (!(await members.changeRole(accounts, { organizationId: id, userId, from: member.role, to: role })))
    throw conflict(`"${name}" would have no owner, or the role was changed meanwhile; make another member an owner first`);
  evictOrganizationAndKeys(id);
}

/** Makes another member an owner; the caller, an owner, becomes an admin. Throws 404 and 422. */
export async function transferOwnership(context: Context, caller: Caller, userId: number): Promise<void> {
  const { id } = context.organization;
  if (userId === caller.userId) throw invalidAt(['body', 'user_id'], 'Is yourself; name another member');
  const transfer = { organizationId: id, fromUserId: caller.userId, toUserId: userId, nextRole: 'admin' as const };
  if (!(await members.transferOwnership(catalog(context.bindings), transfer))) throw notFound('Member');
  evictOrganizationAndKeys(id);
}

/** Ends the sessions of a member in the organization, and returns how many there were. Throws 404 and 403. */
export async function endMemberSessions(context: Context, caller: Caller, userId: number): Promise<number> {
  const accounts = catalog(context.bindings);
  const member = await members.findMember(accounts, context.organization.id, userId);
  if (!member) throw notFound('Member');
  requireRank(caller, member.role, 'end the sessions of a member');
  return members.deleteSessionsInOrganization(accounts, context.organization.id, userId);
}
