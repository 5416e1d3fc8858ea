import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { cleanLine } from '../../library/clean-line.ts';
import { updateMemberships } from './member-store.ts';

const cleanListNames = (names: string[]) => [...new Set(names.map(cleanLine).filter(Boolean))];

/**
 * Puts a contact on lists and takes it off others, by name; lists to add to are created. Answers the names of the lists where
 * that changed something; null when there is no such contact.
 */
export async function changeMemberships(
  context: Context,
  contactId: number,
  { add, remove }: { add: string[]; remove: string[] },
): Promise<{ added: string[]; removed: string[] } | null> {
  const names = { add: cleanListNames(add), remove: cleanListNames(remove) };
  return enforcePlanLimit(context.organization, () =>
    updateMemberships(context.database, context.organization, contactId, names, context.clock()),
  );
}
