import type { Context } from '../accounts/context.ts';
import { contactSearchMatch } from '../contacts/search.ts';
import { countLimit, cut, type Found, type Page } from '../http/pagination.ts';
import { eventPosition } from './cursor.ts';
import { endOf, startOf, type EventQuery } from './schemas.ts';
import { searchEvents, type SearchHit } from './search-store.ts';
import * as store from './store.ts';
import { listNewestOfPhones } from './unique-store.ts';

const position = (row: { id: number; created_at: number }) => ({ value: row.created_at, id: row.id });

/** One page of the organization's events, newest first. */
export async function listEvents(context: Context, query: EventQuery): Promise<Found<store.StoredEvent>> {
  const filter: store.EventFilter = {
    eventType: query.event_type,
    from: query.start_date === undefined ? undefined : startOf(query.start_date),
    to: query.end_date === undefined ? undefined : endOf(query.end_date),
  };
  if (query.search) return searchedEvents(context, query.search, filter, query);
  const page = { limit: query.limit, offset: query.offset, after: eventPosition(query.cursor) };
  const list = query.unique_by_phone ? listNewestOfPhones : store.listEvents;
  const { rows, total, totalCapped } = await list(context.database, context.organization.id, filter, page);
  return { ...cut(rows, query.limit, position), total, totalCapped };
}

async function searchedEvents(
  context: Context,
  text: string,
  filter: store.EventFilter,
  page: Page & { unique_by_phone: boolean },
): Promise<Found<store.StoredEvent>> {
  const digits = text.replaceAll(/[^\d]/g, '');
  const looksLikePhone = digits.length >= 3 && /^[+\d\s().-]+$/.test(text);
  const after = eventPosition(page.cursor);
  const found = await searchEvents(context.database, context.organization.id, filter, {
    text,
    contactMatch: contactSearchMatch(context.organization.id, text, ['name', 'phone'], context.organization.defaultCountry),
    phonePrefixes: looksLikePhone ? [...new Set([text, digits, `+${digits}`])] : [text],
  });
  const all = page.unique_by_phone ? newestOfPhones(found.hits) : found.hits;
  const rest = after ? all.filter((hit) => hit.created_at < after.value || (hit.created_at === after.value && hit.id < after.id)) : all;
  const wanted = rest.slice(page.offset, page.offset + page.limit + 1).map((hit) => hit.id);
  const rows = new Map((await store.eventsByIds(context.database, context.organization.id, wanted)).map((row) => [row.id, row]));
  const inOrder = wanted.flatMap((id) => rows.get(id) ?? []);
  const totalCapped = found.isPartial || all.length > countLimit;
  return { ...cut(inOrder, page.limit, position), total: Math.min(all.length, countLimit), totalCapped };
}

/** `hits` are newest first, so the first of each phone is its newest. */
function newestOfPhones(hits: SearchHit[]): SearchHit[] {
  const seen = new Set<string>();
  return hits.filter((hit) => hit.phone !== null && !seen.has(hit.phone) && seen.add(hit.phone));
}
