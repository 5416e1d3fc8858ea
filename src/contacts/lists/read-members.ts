import type { Context } from '../../context.ts';
import { toContactRecord, type ContactRecord } from '../contacts/records.ts';
import { findContactPage } from '../contacts/page-store.ts';

/** The members of a list after the contact `after`, in the order of their ids, at most `limit`; null when there is no such list. */
export async function readListMembers(context: Context, listId: number, after: number, limit: number): Promise<ContactRecord[] | null> {
  const page = await findContactPage({
    database: context.database,
    organizationId: context.organization.id,
    filter: { listId },
    order: { by: 'created_at', isDescending: false },
    page: { limit, offset: 0, after: { value: null, id: after } },
  });
  return page && page.contacts.slice(0, limit).map(toContactRecord);
}
