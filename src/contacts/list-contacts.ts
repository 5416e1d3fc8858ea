import type { Context } from '../accounts/context.ts';
import { cut, decodeCursor, type Found, type Position } from '../http/pagination.ts';
import { invalidAt, notFound } from '../library/errors.ts';
import { cleanLine } from './clean-text.ts';
import type { Contact } from './contact.ts';
import { normalizePhone } from './phone-numbers.ts';
import type { ContactQuery } from './schemas.ts';
import { contactSearchMatch, contactTagMatch } from './search.ts';
import { findPage } from './store-pages.ts';
import type { ContactFilter, ContactOrder } from './store-walks.ts';

/** One page of the contacts under the filters. Throws 404 when they name a list that there is not. */
export async function listContacts(context: Context, query: ContactQuery): Promise<Found<Contact>> {
  const order: ContactOrder = { by: query.sort, isDescending: query.order === 'desc' };
  const after = decodeCursor(query.cursor);
  if (after && !fits(after, order))
    throw invalidAt(['query', 'cursor'], 'Is of another order; use it with the sort that it came from', 'invalid_cursor');
  const page = { limit: query.limit, offset: query.offset, after };
  const found = await findPage({
    database: context.database,
    organizationId: context.organization.id,
    filter: filterOf(context, query),
    order,
    page,
  });
  if (!found) throw notFound('Contact list');
  const { rows, next } = cut(found.contacts, query.limit, (contact) => ({ value: contact[order.by], id: contact.id }));
  return { rows, next, total: found.total, totalCapped: found.isTotalCapped };
}

const fits = ({ value }: Position, { by }: ContactOrder) => (by === 'last_name' ? typeof value !== 'number' : typeof value === 'number');

const given = (value: string | undefined) => cleanLine(value ?? '') || undefined;

function filterOf({ organization }: Context, query: ContactQuery): ContactFilter {
  const text = contactSearchMatch(organization.id, query.search ?? '', undefined, organization.defaultCountry);
  const tag = contactTagMatch(organization.id, query.tag ?? '');
  return {
    listId: query.list_id,
    match: [text, tag].filter((part) => part !== null).join(' AND ') || undefined,
    email: given(query.email),
    phone: query.phone && phoneOf(query.phone, organization.defaultCountry),
    externalId: given(query.external_id),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
  };
}

function phoneOf(text: string, defaultCountry: string): string {
  // An unescaped plus in a query arrives as a space.
  const reading = normalizePhone(text.replace(/^ (?=\d)/, '+'), defaultCountry);
  if ('phone' in reading) return reading.phone;
  throw invalidAt(['query', 'phone'], reading.detail, 'invalid_phone');
}
