import type { Context } from '../../context.ts';
import { conflict, forbidden, invalidAt } from '../../library/errors.ts';
import { enqueueContactChanges } from '../../outbox/enqueue.ts';
import { applyChange } from './apply-change.ts';
import { hasKey, emptyContactValues } from './contact.ts';
import { detectFieldTypes } from './field-types.ts';
import { contactLimitMessage } from './contact-limit.ts';
import { parseFields, findSizeError } from './parse-fields.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import type { ContactFields } from './schemas.ts';
import { insertContact, isKeyTaken, isContactLimitExceeded } from './store.ts';
import { requireFreeKeys } from './key-conflict.ts';
import { maxWriteAttempts } from './write-retry.ts';

/** Throws 422 for fields that cannot be used, 409 when phone or external id are taken, 403 beyond the plan. */
export async function createContact(context: Context, fields: ContactFields): Promise<ContactRecord> {
  const { database, organization } = context;
  const values = applyChange(emptyContactValues, parseFields(fields, organization.defaultCountry, 'body'));
  if (!hasKey(values)) throw invalidAt(['body'], 'A contact needs a phone, an email or an external_id; give at least one', 'no_key');
  const problem = findSizeError(values);
  if (problem) throw invalidAt(['body', problem.field], problem.detail, problem.code);
  for (let attempt = 1; attempt <= maxWriteAttempts; attempt++) {
    const write = { organizationId: organization.id, now: context.clock(), depth: 0 };
    try {
      const { contact, hasChanges } = await insertContact(
        database,
        values,
        detectFieldTypes(values.custom_fields),
        organization.plan.maxContacts,
        write,
      );
      if (hasChanges) enqueueContactChanges(context);
      return toContactRecord(contact);
    } catch (error) {
      if (!isKeyTaken(error) && !isContactLimitExceeded(error)) throw error;
      await requireFreeKeys(context, values);
      if (isContactLimitExceeded(error)) throw forbidden(contactLimitMessage(context), 'contact_limit_reached');
    }
  }
  throw conflict('This phone or external_id keeps being taken and freed by others; try again');
}
