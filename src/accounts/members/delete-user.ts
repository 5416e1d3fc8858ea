import type { Role } from '../../database/schema/accounts.ts';
import { catalog } from '../../database/shards.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import { requirePassword } from '../passwords/change-password.ts';
import type { Caller, Context } from '../../context.ts';
import { requireRank } from './require-rank.ts';
import * as members from './store.ts';

/**
 * Deletes the account of a session's user, who gives the password. Sessions, memberships and the user's API keys stop working. Throws 422,
 * 429, and 409 for the only owner of an organization.
 */
export async function deleteUser(bindings: Env, userId: number, password: string, now: number): Promise<void> {
  await requirePassword(bindings, userId, password, 'password', now);
  const accounts = catalog(bindings);
  const [owned] = await members.listOrganizationsWithOnlyOwner(accounts, userId);
  if (owned) throw owned.memberCount === 1 ? lastMemberError(owned.name) : onlyOwnerError(owned.name);
  const left = await members.deleteUser(accounts, userId, now);
  if (left === null) throw onlyOwnerError('an organization');
  for (const organizationId of left) evictOrganizationAndKeys(organizationId);
}

/**
 * Removes a member from the organization. The member's sessions in it end, and the member's API keys of it are revoked. A user without another
 * organization is deleted. Throws 404, 403 for a member whose role is above the caller's, and 409 for the only owner, or when the role changes
 * meanwhile.
 */
export async function removeMember(context: Context, caller: Caller, userId: number): Promise<void> {
  const member = await members.findMember(catalog(context.bindings), context.organization.id, userId);
  if (!member) throw notFound('Member');
  requireRank(caller, member.role, 'remove a member');
  await removeOrThrow(context, { userId, role: member.role, keepsAccount: false });
}

/** Takes the caller out of the organization, whose account stays. Throws 409 for the only owner. */
export async function leaveOrganization(context: Context, caller: Caller): Promise<void> {
  await removeOrThrow(context, { userId: caller.userId, role: null, keepsAccount: true });
}

async function removeOrThrow(context: Context, removal: { userId: number; role: Role | null; keepsAccount: boolean }): Promise<void> {
  const { id } = context.organization;
  const isRemoved = await members.removeMember(catalog(context.bindings), { organizationId: id, ...removal }, context.clock());
  if (!isRemoved) throw await explainRefusal(context, removal);
  evictOrganizationAndKeys(id);
}

async function explainRefusal(context: Context, { userId, role }: { userId: number; role: Role | null }): Promise<Error> {
  const { id, name } = context.organization;
  const everybody = await members.listMembers(catalog(context.bindings), id);
  const member = everybody.find((one) => one.id === userId);
  if (!member) return notFound('Member');
  if (role !== null && member.role !== role) return conflict(`The role of this member has become ${member.role} meanwhile; try again`);
  return everybody.length === 1 ? lastMemberError(name) : onlyOwnerError(name);
}

const lastMemberError = (name: string) =>
  conflict(`This is the last member of "${name}"; delete the organization first, by DELETE /organizations/current`);

const onlyOwnerError = (name: string) =>
  conflict(`This is the only owner of "${name}"; make another member an owner first, by POST /organizations/ownership`);
