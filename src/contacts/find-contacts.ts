import type { Context } from '../accounts/context.ts';
import type { Row, Statement } from '../database/client.ts';
import { contactRecord, type ContactRecord } from './records.ts';
import { contactOf, contactsByIds, findIdsByEmail } from './store.ts';

/** For a batch; its rows become records with `recordOfRow`. */
export const contactsStatement = ({ database, organization }: Context, ids: number[]): Statement =>
  contactsByIds(database, organization.id, ids);

export const recordOfRow = (row: Row): ContactRecord => contactRecord(contactOf(row));

/** The contacts that exist in this organization, by id. */
export async function findContacts(context: Context, ids: number[]): Promise<Map<number, ContactRecord>> {
  if (!ids.length) return new Map();
  const rows = await context.database.all(contactsStatement(context, ids));
  return new Map(rows.map(recordOfRow).map((contact) => [contact.id, contact]));
}

/** The id of the only contact with this e-mail address, compared without case; null when none or several have it. */
export async function contactIdByEmail({ database, organization }: Context, email: string): Promise<number | null> {
  const ids = await findIdsByEmail(database, organization.id, email.trim());
  return ids.length === 1 ? ids[0]! : null;
}
