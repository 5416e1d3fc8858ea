import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import type { ContactValues } from './contact.ts';
import { findKeyHolders } from './store.ts';

/** Throws a 409 that names the contact, other than `exceptId`, which has the phone or the external id. */
export async function requireFreeKeys(context: Context, values: ContactValues, exceptId?: number): Promise<void> {
  const holders = await findKeyHolders(context.database, context.organization.id, values);
  for (const field of ['phone', 'external_id'] as const) {
    const holder = holders.find((contact) => contact.id !== exceptId && values[field] !== null && contact[field] === values[field]);
    if (holder) throw conflict(`${field} ${values[field]} is taken by contact ${holder.id}; update that contact or give another ${field}`);
  }
}

/** The sentence for the error `contact_limit_reached`. */
export const contactLimitMessage = ({ organization }: Context): string =>
  `The plan allows ${organization.plan.maxContacts} contacts; delete contacts or have the plan raised`;
