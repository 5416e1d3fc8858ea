import type { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { findContacts } from '../contacts/find-contacts.ts';
import { countLimit, cut, type Found, type Page } from '../http/pagination.ts';
import { notFound } from '../library/errors.ts';
import { eventPosition } from './cursor.ts';
import { eventRecords } from './records.ts';
import type { EventRecord } from './schemas.ts';
import { eventsOfContact } from './store.ts';

/** One page of a contact's events, newest first. Throws 404 when there is no such contact. */
export async function listContactEvents(context: Context, contactId: number, page: Page): Promise<Found<z.infer<typeof EventRecord>>> {
  const after = eventPosition(page.cursor);
  if (!(await findContacts(context, [contactId])).size) throw notFound('Contact');
  const { rows, total } = await eventsOfContact(context.database, contactId, { limit: page.limit, offset: page.offset, after });
  const found = cut(rows, page.limit, (row) => ({ value: row.created_at, id: row.id }));
  const records = await eventRecords(context.bindings.FILES, found.rows);
  return { rows: records, next: found.next, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}
