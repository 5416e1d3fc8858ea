import type { z } from '@hono/zod-openapi';
import type { Context } from '../context.ts';
import { buildContactSearchMatch } from '../contacts/contacts/search.ts';
import { countLimit, cutPage, type PageResult, type Page } from '../http/pagination.ts';
import { parseEventCursor } from './cursor.ts';
import { parseRangeEnd, parseRangeStart } from '../http/date-range.ts';
import type { EventQuery, EventRecord } from './schemas.ts';
import { searchEvents, type SearchHit } from './search-store.ts';
import * as store from './store.ts';
import { listNewestPerPhone } from './newest-per-phone-store.ts';
import { findContacts } from '../contacts/contacts/find-contacts.ts';
import { notFound } from '../library/errors.ts';
import { toEventRecords } from './records.ts';

const toPosition = (row: { id: number; created_at: number }) => ({ value: row.created_at, id: row.id });

/** One page of the organization's events, newest first. */
export async function listEvents(context: Context, query: EventQuery): Promise<PageResult<store.StoredEvent>> {
  const filter: store.EventFilter = {
    eventType: query.event_type,
    from: query.start_date === undefined ? undefined : parseRangeStart(query.start_date),
    to: query.end_date === undefined ? undefined : parseRangeEnd(query.end_date),
  };
  if (query.search) return listSearchedEvents(context, query.search, filter, query);
  const page = { limit: query.limit, offset: query.offset, after: parseEventCursor(query.cursor) };
  const list = query.unique_by_phone ? listNewestPerPhone : store.listEvents;
  const { rows, total, totalCapped } = await list(context.database, context.organization.id, filter, page);
  return { ...cutPage(rows, query.limit, toPosition), total, totalCapped };
}

async function listSearchedEvents(
  context: Context,
  text: string,
  filter: store.EventFilter,
  page: Page & { unique_by_phone: boolean },
): Promise<PageResult<store.StoredEvent>> {
  const digits = text.replaceAll(/[^\d]/g, '');
  const looksLikePhone = digits.length >= 3 && /^[+\d\s().-]+$/.test(text);
  const after = parseEventCursor(page.cursor);
  const found = await searchEvents(context.database, context.organization.id, filter, {
    text,
    contactMatch: buildContactSearchMatch(context.organization.id, text, ['name', 'phone'], context.organization.defaultCountry),
    phonePrefixes: looksLikePhone ? [...new Set([text, digits, `+${digits}`])] : [text],
  });
  const all = page.unique_by_phone ? keepNewestPerPhone(found.hits) : found.hits;
  const remaining = after
    ? all.filter((hit) => hit.created_at < after.value || (hit.created_at === after.value && hit.id < after.id))
    : all;
  const ids = remaining.slice(page.offset, page.offset + page.limit + 1).map((hit) => hit.id);
  const rows = new Map((await store.findStoredEvents(context.database, context.organization.id, ids)).map((row) => [row.id, row]));
  const inOrder = ids.flatMap((id) => rows.get(id) ?? []);
  const totalCapped = found.isPartial || all.length > countLimit;
  return { ...cutPage(inOrder, page.limit, toPosition), total: Math.min(all.length, countLimit), totalCapped };
}

/** The newest hit of each phone. `hits` are newest first. */
function keepNewestPerPhone(hits: SearchHit[]): SearchHit[] {
  const seen = new Set<string>();
  return hits.filter((hit) => hit.phone !== null && !seen.has(hit.phone) && seen.add(hit.phone));
}

/** One page of a contact's events, newest first. Throws 404 without the contact. */
export async function listContactEvents(context: Context, contactId: number, page: Page): Promise<PageResult<z.infer<typeof EventRecord>>> {
  const after = parseEventCursor(page.cursor);
  if (!(await findContacts(context, [contactId])).size) throw notFound('Contact');
  const { rows, total } = await store.findEventsOfContact(context.database, contactId, { limit: page.limit, offset: page.offset, after });
  const found = cutPage(rows, page.limit, (row) => ({ value: row.created_at, id: row.id }));
  const records = await toEventRecords(context.bindings.FILES, found.rows);
  return { rows: records, next: found.next, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}
