import type { Context } from '../../context.ts';
import { conflict, invalidAt } from '../../library/errors.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import { applyChange, findChangedFields } from './apply-change.ts';
import { hasKey, type Contact, type ContactChange } from './contact.ts';
import { detectFieldTypes } from './field-types.ts';
import { findSizeError } from './parse-fields.ts';
import { findContact, isKeyTaken, updateContact } from './store.ts';
import { requireFreeKeys } from './key-conflict.ts';
import { maxWriteAttempts, waitBeforeRetry } from './write-retry.ts';

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
  for (let attempt = 1; attempt <= maxWriteAttempts; attempt++) {
    if (attempt > 1) await waitBeforeRetry(attempt);
    const before = await findContact(database, organization.id, id);
    if (!before) return null;
    const after = applyChange(before, change);
    const changed = findChangedFields(before, after);
    if (!changed.length) return before;
    if (!hasKey(after))
      throw invalidAt([place], 'Would leave the contact without phone, email and external_id; keep at least one', 'no_key');
    const problem = findSizeError(after);
    if (problem) throw invalidAt([place, problem.field], problem.detail, problem.code);
    const write = { organizationId: organization.id, now: context.clock(), depth };
    try {
      const written = await updateContact(database, before, after, changed, detectFieldTypes(change.custom_fields), write);
      if (written?.hasChanges) enqueueContactChanges(context);
      if (written) return written.contact;
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
      await requireFreeKeys(context, after, id);
    }
  }
  throw conflict(`Contact ${id} keeps being changed by others; try again`);
}
