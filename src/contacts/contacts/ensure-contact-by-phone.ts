import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import * as store from './by-phone-store.ts';

/**
 * Statements that make sure a contact with `phone` exists, tagged when it is new, and is a member of the list, for a batch that
 * goes on to link it; `unless` holds them back.
 */
export function ensureContactByPhoneStatements(
  { database, organization, clock }: Context,
  contact: { phone: string; listName: string | null; tags: string[] },
  unless: store.SkipCondition | null,
): Statement[] {
  const { id, plan } = organization;
  const { maxContacts, maxLists } = plan;
  return store.ensureContactStatements(database, { id, maxContacts, maxLists }, contact, clock(), unless);
}
