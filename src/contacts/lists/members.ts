import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Statement } from '../../database/client.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import { notFound } from '../../library/errors.ts';
import * as store from './member-store.ts';

/** Adds existing contacts to a list. An id given twice counts once. Throws 404 without the list. */
export async function addMembers(context: Context, listId: number, contactIds: number[]) {
  const ids = [...new Set(contactIds)];
  const found = await store.addMembers(context.database, context.organization.id, listId, ids, context.clock());
  if (!found) throw notFound('Contact list');
  const known = new Set(found.map((member) => member.contact_id));
  const alreadyMembers = found.filter((member) => member.was_member === 1).length;
  return { added: found.length - alreadyMembers, already_members: alreadyMembers, not_found: ids.filter((id) => !known.has(id)) };
}

/** Removes a contact from a list. Throws 404 when the list does not exist or the contact is not a member. */
export async function removeMember(context: Context, listId: number, contactId: number): Promise<void> {
  const { list, wasMember } = await store.removeMember(context.database, context.organization.id, listId, contactId);
  if (!list) throw notFound('Contact list');
  if (!wasMember) throw notFound(`Contact ${contactId} in this list`);
}

/** Statements for the caller's batch, in order: they remove contacts from the list of this name, if it exists. */
export const removeMembersStatements = ({ database, organization }: Context, listName: string, contactIds: number[]): Statement[] =>
  store.deleteMembersStatements(database, organization.id, listName, contactIds);

const cleanListNames = (names: string[]) => [...new Set(names.map(cleanLine).filter(Boolean))];

/**
 * Adds a contact to the lists named `add`, creating missing ones, and removes it from the lists named `remove`. Answers the names of the
 * lists that changed; null when the contact does not exist. Throws 403 at the plan's limit of lists.
 */
export async function changeMemberships(
  context: Context,
  contactId: number,
  { add, remove }: { add: string[]; remove: string[] },
): Promise<{ added: string[]; removed: string[] } | null> {
  const names = { add: cleanListNames(add), remove: cleanListNames(remove) };
  return enforcePlanLimit(context.organization, () =>
    store.updateMemberships(context.database, context.organization, contactId, names, context.clock()),
  );
}

const pageSize = 500;

/** Removes one page of the memberships of a deleted list; answers whether none are left. */
export const removeDeletedListMembers = async ({ database, organization }: Context, listId: number): Promise<boolean> =>
  (await store.deleteMembersOfDeletedList(database, organization.id, listId, pageSize)) < pageSize;
