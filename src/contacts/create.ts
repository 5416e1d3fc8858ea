import type { Context } from '../accounts/context.ts';
import { conflict, forbidden, invalidAt } from '../library/errors.ts';
import { announceContactChanges } from '../queues/announce.ts';
import { applyChange } from './apply-change.ts';
import { hasKey, nobody } from './contact.ts';
import { fieldTypes } from './field-types.ts';
import { limitSentence } from './plan-limit.ts';
import { readFields, sizeProblem } from './read-fields.ts';
import { contactRecord, type ContactRecord } from './records.ts';
import type { ContactFields } from './schemas.ts';
import { insertContact, isKeyTaken, isLimitBroken } from './store.ts';
import { refuseTakenKey } from './taken-key.ts';
import { maximumTries } from './try-again.ts';

/** Throws 422 for fields that cannot be used, 409 when phone or external id are taken, 403 beyond the plan. */
export async function createContact(context: Context, fields: ContactFields): Promise<ContactRecord> {
  const { database, organization } = context;
  const values = applyChange(nobody, readFields(fields, organization.defaultCountry, 'body'));
  if (!hasKey(values)) throw invalidAt(['body'], 'A contact needs a phone, an email or an external_id; give at least one', 'no_key');
  const problem = sizeProblem(values);
  if (problem) throw invalidAt(['body', problem.field], problem.detail, problem.code);
  for (let attempt = 1; attempt <= maximumTries; attempt++) {
    const write = { organizationId: organization.id, now: context.clock(), depth: 0 };
    try {
      const { contact, hasChanges } = await insertContact(
        database,
        values,
        fieldTypes(values.custom_fields),
        organization.plan.maxContacts,
        write,
      );
      if (hasChanges) announceContactChanges(context);
      return contactRecord(contact);
    } catch (error) {
      if (!isKeyTaken(error) && !isLimitBroken(error)) throw error;
      await refuseTakenKey(context, values);
      if (isLimitBroken(error)) throw forbidden(limitSentence(context), 'contact_limit_reached');
    }
  }
  throw conflict('This phone or external_id keeps being taken and freed by others; try again');
}
