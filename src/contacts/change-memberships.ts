import type { Context } from '../accounts/context.ts';
import { withinPlan } from '../accounts/room.ts';
import { cleanLine } from './clean-text.ts';
import { moveContact } from './store-members.ts';

const named = (names: string[]) => [...new Set(names.map(cleanLine).filter(Boolean))];

/**
 * Puts a contact on lists and takes it off others, by name; lists to add to are created. Answers the names of the lists where
 * that changed something; null when there is no such contact.
 */
export async function changeMemberships(
  context: Context,
  contactId: number,
  { add, remove }: { add: string[]; remove: string[] },
): Promise<{ added: string[]; removed: string[] } | null> {
  const names = { add: named(add), remove: named(remove) };
  return withinPlan(context.organization, () => moveContact(context.database, context.organization, contactId, names, context.clock()));
}
