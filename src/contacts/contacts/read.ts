import type { Context } from '../../context.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { notFound } from '../../library/errors.ts';
import { toContactRecord } from './records.ts';
import { findContactWithLists } from './store.ts';

/** The contact with the lists that it is on; throws 404. */
export async function readContact(context: Context, id: number) {
  const found = await findContactWithLists(context.database, context.organization.id, id);
  if (!found) throw notFound('Contact');
  const lists = found.lists.map((list) => ({ id: list.id, name: list.name, added_at: toTimestamp(list.added_at) }));
  return { ...toContactRecord(found.contact), lists };
}
