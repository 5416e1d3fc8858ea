import { catalog } from '../../database/shards.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { evictOrganizationAndKeys } from '../authentication/identity.ts';
import { requirePassword } from '../passwords/change-password.ts';
import type { Context } from '../../context.ts';
import * as members from './store.ts';

/**
 * Deletes the account of a session's user, who names the password: sessions, memberships, and the keys they have made work no more. Throws 422,
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
 * Takes somebody out of the organization: their sessions in it end, and the keys they have made in it are revoked. Who is in no other
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
