import { catalog } from '../../database/shards.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import { requirePassword } from '../passwords/change-password.ts';
import type { Context } from '../../context.ts';
import * as members from './store.ts';

/**
 * Deletes the account of a session's user, who gives the password. Sessions, memberships and the user's API keys stop working. Throws 422,
 * 429, and 409 for the last member of an organization.
 */
export async function deleteUser(bindings: Env, userId: number, password: string, now: number): Promise<void> {
  await requirePassword(bindings, userId, password, 'password', now);
  const accounts = catalog(bindings);
  const alone = await members.listOrganizationsWithOnlyMember(accounts, userId);
  if (alone.length > 0) throw lastMemberError(alone[0]!.name);
  const left = await members.deleteUser(accounts, userId, now);
  if (left === null) throw lastMemberError('an organization');
  for (const organizationId of left) evictOrganizationAndKeys(organizationId);
}

/**
 * Removes a member from the organization. The member's sessions in it end, and the member's API keys of it are revoked. A user without another
 * organization is deleted. Throws 404, and 409 for the last member.
 */
export async function removeMember(context: Context, userId: number): Promise<void> {
  const accounts = catalog(context.bindings);
  const { id, name } = context.organization;
  const member = await members.findMember(accounts, id, userId);
  if (!member) throw notFound('Member');
  if (!(await members.removeMember(accounts, id, userId, context.clock()))) throw lastMemberError(name);
  evictOrganizationAndKeys(id);
}

const lastMemberError = (name: string) =>
  conflict(`This is the last member of "${name}"; delete the organization first, by DELETE /organizations/current`);
