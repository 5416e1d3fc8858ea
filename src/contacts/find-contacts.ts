import type { Context } from '../accounts/context.ts';
import type { Statement } from '../database/client.ts';
import { toTimestamp } from '../library/clock.ts';

/** A contact as templates and conditions see it: the public record without its lists. */
export interface ContactView {
  id: number;
  organization_id: number;
  external_id: string | null;
  phone: string | null;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  company: string | null;
  title: string | null;
  tags: string[];
  custom_fields: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

/** For a batch; its rows become views with `contactView`. */
export const contactsStatement = (context: Context, ids: number[]): Statement =>
  context.database.prepare(
    `SELECT c.* FROM json_each(?) j CROSS JOIN contact c WHERE c.id = j.value AND c.organization_id = ? AND c.deleted_at IS NULL`,
    JSON.stringify(ids),
    context.organization.id,
  );

/** The row of a contact, its JSON columns text or parsed, its moments epoch milliseconds, as its view. */
export function contactView(row: Record<string, unknown>): ContactView {
  return {
    id: row.id as number,
    organization_id: row.organization_id as number,
    external_id: row.external_id as string | null,
    phone: row.phone as string | null,
    email: row.email as string | null,
    first_name: row.first_name as string | null,
    last_name: row.last_name as string | null,
    company: row.company as string | null,
    title: row.title as string | null,
    tags: parsed(row.tags) as string[],
    custom_fields: parsed(row.custom_fields) as Record<string, unknown>,
    created_at: toTimestamp(row.created_at as number),
    updated_at: toTimestamp(row.updated_at as number),
  };
}

const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

/** The contacts that exist in this organization, by id. */
export async function findContacts(context: Context, ids: number[]): Promise<Map<number, ContactView>> {
  if (!ids.length) return new Map();
  const rows = await context.database.all(contactsStatement(context, ids));
  return new Map(rows.map(contactView).map((contact) => [contact.id, contact]));
}
