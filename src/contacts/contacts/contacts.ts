import type { Context } from '../../context.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { conflict, forbidden, invalidAt, notFound } from '../../library/errors.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { enqueueCleanup, enqueueContactChanges } from '../../outbox/enqueue.ts';
import { applyChange } from './apply-change.ts';
import { emptyContactValues, hasKey } from './contact.ts';
import { detectFieldTypes } from './custom-fields.ts';
import { tombstoneContact } from './erase-store.ts';
import { findSizeError, parseFields } from './parse-fields.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import type { ContactFields } from './schemas.ts';
import { findContactWithLists, insertContact, isContactLimitExceeded, isKeyTaken } from './store.ts';
import { contactLimitMessage, requireFreeKeys } from './write-errors.ts';

/**
 * Creates a contact. Throws 422 for unusable fields, 409 when another contact has the phone or the external id, 403 at the plan's limit.
 *
 * @example await createContact(context, { phone: '(415) 555-0123', first_name: 'Ada', tags: ['vip'] })
 */
export async function createContact(context: Context, fields: ContactFields): Promise<ContactRecord> {
  const { database, organization } = context;
  const values = applyChange(emptyContactValues, parseFields(fields, organization.defaultCountry, 'body'));
  if (!hasKey(values)) throw invalidAt(['body'], 'A contact needs a phone, an email or an external_id; give at least one', 'no_key');
  const sizeError = findSizeError(values);
  if (sizeError) throw invalidAt(['body', sizeError.field], sizeError.detail, sizeError.code);
  const fieldTypes = detectFieldTypes(values.custom_fields);
  const created = await retryOnConflict(async () => {
    const write = { organizationId: organization.id, now: context.clock(), depth: 0 };
    try {
      return await insertContact(database, values, fieldTypes, organization.plan.maxContacts, write);
    } catch (error) {
      if (!isKeyTaken(error) && !isContactLimitExceeded(error)) throw error;
      await requireFreeKeys(context, values);
      if (isContactLimitExceeded(error)) throw forbidden(contactLimitMessage(context), 'contact_limit_reached');
      return null;
    }
  });
  if (!created) throw conflict('This phone or external_id keeps being taken and freed by others; try again');
  if (created.hasChanges) enqueueContactChanges(context);
  return toContactRecord(created.contact);
}

/** The contact and the lists that contain it. Throws 404. */
export async function readContact(context: Context, id: number) {
  const found = await findContactWithLists(context.database, context.organization.id, id);
  if (!found) throw notFound('Contact');
  const lists = found.lists.map((list) => ({ id: list.id, name: list.name, added_at: toTimestamp(list.added_at) }));
  return { ...toContactRecord(found.contact), lists };
}

/**
 * Deletes a contact. Its personal data are erased and its phone and external id are free when the promise resolves; rows of other tables
 * that name the contact are cleaned up afterwards, page by page. Throws 404.
 */
export async function deleteContact(context: Context, id: number): Promise<void> {
  const cleanup = await tombstoneContact(context.database, context.organization.id, id, context.clock());
  if (cleanup === null) throw notFound('Contact');
  enqueueCleanup(context, cleanup);
}
