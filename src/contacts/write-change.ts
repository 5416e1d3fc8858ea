import type { Context } from '../accounts/context.ts';
import { conflict, invalidAt } from '../library/errors.ts';
import { announceContactChanges } from '../queues/announce.ts';
import { applyChange, changedFields } from './apply-change.ts';
import { hasKey, type Contact, type ContactChange } from './contact.ts';
import { fieldTypes } from './field-types.ts';
import { sizeProblem } from './read-fields.ts';
import { findContact, isKeyTaken, updateContact } from './store.ts';
import { refuseTakenKey } from './taken-key.ts';
import { maximumTries, waitToTryAgain } from './try-again.ts';

/**
 * Changes one contact and answers what it became; null when there is no such contact. A change that changes nothing writes
 * nothing. Throws 422 when it cannot be so, 409 when phone or external id are another's; `place` begins the 422's `loc`.
 */
export async function writeChange(
  context: Context,
  id: number,
  change: ContactChange,
  depth: number,
  place: string,
): Promise<Contact | null> {
  const { database, organization } = context;
  for (let attempt = 1; attempt <= maximumTries; attempt++) {
    if (attempt > 1) await waitToTryAgain(attempt);
    const before = await findContact(database, organization.id, id);
    if (!before) return null;
    const after = applyChange(before, change);
    const changed = changedFields(before, after);
    if (!changed.length) return before;
    if (!hasKey(after))
      throw invalidAt([place], 'Would leave the contact without phone, email and external_id; keep at least one', 'no_key');
    const problem = sizeProblem(after);
    if (problem) throw invalidAt([place, problem.field], problem.detail, problem.code);
    const write = { organizationId: organization.id, now: context.clock(), depth };
    try {
      const written = await updateContact(database, before, after, changed, fieldTypes(change.custom_fields), write);
      if (written?.hasChanges) announceContactChanges(context);
      if (written) return written.contact;
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
      await refuseTakenKey(context, after, id);
    }
  }
  throw conflict(`Contact ${id} keeps being changed by others; try again`);
}
