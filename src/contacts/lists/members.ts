import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import { notFound } from '../../library/errors.ts';
import * as store from './member-store.ts';

/** Adds existing contacts to a list. Each id counts once, however often it is named. */
export async function addMembers(context: Context, listId: number, contactIds: number[]) {
  const ids = [...new Set(contactIds)];
  const found = await store.addMembers(context.database, context.organization.id, listId, ids, context.clock());
  if (!found) throw notFound('Contact list');
  const known = new Set(found.map((member) => member.contact_id));
  const alreadyMembers = found.filter((member) => member.was_member === 1).length;
  return { added: found.length - alreadyMembers, already_members: alreadyMembers, not_found: ids.filter((id) => !known.has(id)) };
}

export async function removeMember(context: Context, listId: number, contactId: number): Promise<void> {
  const { list, wasMember } = await store.removeMember(context.database, context.organization.id, listId, contactId);
  if (!list) throw notFound('Contact list');
  if (!wasMember) throw notFound(`Contact ${contactId} in this list`);
}

/** Takes contacts off the list of this name, if there is one, within a batch of the caller's: the statements, in their order. */
export const removeMembersStatements = ({ database, organization }: Context, listName: string, contactIds: number[]): Statement[] =>
  store.deleteMembersStatements(database, organization.id, listName, contactIds);
