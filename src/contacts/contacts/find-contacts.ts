import type { Context } from '../../context.ts';
import type { Row, Statement } from '../../database/client.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import { toContact, selectContactsByIds, findIdsByEmail } from './store.ts';

/** For a batch; its rows become records with `contactRecordFromRow`. */
export const contactsByIdsStatement = ({ database, organization }: Context, ids: number[]): Statement =>
  selectContactsByIds(database, organization.id, ids);

export const contactRecordFromRow = (row: Row): ContactRecord => toContactRecord(toContact(row));

/** The contacts that exist in this organization, by id. */
export async function findContacts(context: Context, ids: number[]): Promise<Map<number, ContactRecord>> {
  if (!ids.length) return new Map();
  const rows = await context.database.all(contactsByIdsStatement(context, ids));
  return new Map(rows.map(contactRecordFromRow).map((contact) => [contact.id, contact]));
}

/** The id of the only contact with this e-mail address, compared without case; null when none or several have it. */
export async function findContactIdByEmail({ database, organization }: Context, email: string): Promise<number | null> {
  const ids = await findIdsByEmail(database, organization.id, email.trim());
  return ids.length === 1 ? ids[0]! : null;
}
