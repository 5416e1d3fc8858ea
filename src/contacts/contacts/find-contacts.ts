import type { Context } from '../../context.ts';
import type { Row, Statement } from '../../database/client.ts';
import type { Contact } from './contact.ts';
import { toContactRecord, type ContactRecord } from './records.ts';
import { toContact, selectContactsByIds, findIdsByEmail, type ContactRow } from './store.ts';

/** A statement for the caller's batch. `contactFromRow` turns its rows into contacts, `contactRecordFromRow` into records. */
export const contactsByIdsStatement = ({ database, organization }: Context, ids: number[]): Statement<ContactRow> =>
  selectContactsByIds(database, organization.id, ids);

export const contactFromRow = (row: ContactRow): Contact => toContact(row);

export const contactRecordFromRow = (row: ContactRow | Row): ContactRecord => toContactRecord(toContact(row as ContactRow));

/** The contacts of the organization among `ids`, by id. */
export async function findContacts(context: Context, ids: number[]): Promise<Map<number, ContactRecord>> {
  if (!ids.length) return new Map();
  const rows = await context.database.all(contactsByIdsStatement(context, ids));
  return new Map(rows.map(contactRecordFromRow).map((contact) => [contact.id, contact]));
}

/** The id of the contact with this e-mail address, compared without case; null when no contact has it, or several. */
export async function findContactIdByEmail({ database, organization }: Context, email: string): Promise<number | null> {
  const ids = await findIdsByEmail(database, organization.id, email.trim());
  return ids.length === 1 ? ids[0]! : null;
}
