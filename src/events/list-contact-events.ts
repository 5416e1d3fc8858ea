import type { z } from '@hono/zod-openapi';
import type { Context } from '../context.ts';
import { findContacts } from '../contacts/contacts/find-contacts.ts';
import { countLimit, cutPage, type PageResult, type Page } from '../http/pagination.ts';
import { notFound } from '../library/errors.ts';
import { parseEventCursor } from './cursor.ts';
import { toEventRecords } from './records.ts';
import type { EventRecord } from './schemas.ts';
import { findEventsOfContact } from './store.ts';

/** One page of a contact's events, newest first. Throws 404 when there is no such contact. */
export async function listContactEvents(context: Context, contactId: number, page: Page): Promise<PageResult<z.infer<typeof EventRecord>>> {
  const after = parseEventCursor(page.cursor);
  if (!(await findContacts(context, [contactId])).size) throw notFound('Contact');
  const { rows, total } = await findEventsOfContact(context.database, contactId, { limit: page.limit, offset: page.offset, after });
  const found = cutPage(rows, page.limit, (row) => ({ value: row.created_at, id: row.id }));
  const records = await toEventRecords(context.bindings.FILES, found.rows);
  return { rows: records, next: found.next, total: Math.min(total, countLimit), totalCapped: total > countLimit };
}
