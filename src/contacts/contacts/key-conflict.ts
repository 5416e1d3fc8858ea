import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import type { ContactValues } from './contact.ts';
import { findKeyHolders } from './store.ts';

/** Throws a 409 that names the contact, other than `self`, which has the phone or the external id. */
export async function requireFreeKeys(context: Context, values: ContactValues, self?: number): Promise<void> {
  const holders = await findKeyHolders(context.database, context.organization.id, values);
  for (const field of ['phone', 'external_id'] as const) {
    const holder = holders.find((one) => one.id !== self && values[field] !== null && one[field] === values[field]);
    if (holder) throw conflict(`${field} ${values[field]} is taken by contact ${holder.id}; update that contact or give another ${field}`);
  }
}
