import type { Context } from '../../context.ts';
import { cutPage, decodeCursor, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import type { Contact } from './contact.ts';
import { readQueryPhone } from '../../http/query-phone.ts';
import type { ContactQuery } from './schemas.ts';
import { buildContactSearchMatch, buildContactTagMatch } from './search.ts';
import { findContactPage } from './page-store.ts';
import type { ContactFilter, ContactOrder } from './query-plans.ts';
import { toContactRecord, type ContactRecord } from './records.ts';

/** One page of the contacts that match the filters. Throws 404 when a filter names an unknown list, 422 for a cursor of another order. */
export async function listContacts(context: Context, query: ContactQuery): Promise<PageResult<Contact>> {
  const order: ContactOrder = { by: query.sort, isDescending: query.order === 'desc' };
  const after = decodeCursor(query.cursor);
  if (after && !isCursorOfOrder(after, order))
    throw invalidAt(['query', 'cursor'], 'Is of another order; use it with the sort that it came from', 'invalid_cursor');
  const page = { limit: query.limit, offset: query.offset, after };
  const found = await findContactPage({
    database: context.database,
    organizationId: context.organization.id,
    filter: toContactFilter(context, query),
    order,
    page,
  });
  if (!found) throw notFound('Contact list');
  const { rows, next } = cutPage(found.contacts, query.limit, (contact) => ({ value: contact[order.by], id: contact.id }));
  return { rows, next, total: found.total, totalCapped: found.isTotalCapped };
}

const isCursorOfOrder = ({ value }: CursorPosition, { by }: ContactOrder) =>
  by === 'last_name' ? typeof value !== 'number' : typeof value === 'number';

const cleanFilterText = (value: string | undefined) => cleanLine(value ?? '') || undefined;

function toContactFilter({ organization }: Context, query: ContactQuery): ContactFilter {
  const text = buildContactSearchMatch(organization.id, query.search ?? '', undefined, organization.defaultCountry);
  const tag = buildContactTagMatch(organization.id, query.tag ?? '');
  return {
    listId: query.list_id,
    match: [text, tag].filter((part) => part !== null).join(' AND ') || undefined,
    email: cleanFilterText(query.email),
    phone: query.phone && readQueryPhone(query.phone, organization.defaultCountry),
    externalId: cleanFilterText(query.external_id),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
  };
}

/** At most `limit` members of a list whose ids follow `after`, by id; null when the list does not exist. */
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
