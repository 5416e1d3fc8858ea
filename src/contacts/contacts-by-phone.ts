import type { Context } from '../accounts/context.ts';
import { idsByPhones } from './store-by-phone.ts';

export interface ContactOfPhone {
  id: number;
  /** Custom field `timezone`, as it stands there; null: it has none. */
  timezone: string | null;
}

/** The contacts that have these phone numbers (E.164), by number, in one indexed read. */
export async function contactsByPhone({ database, organization }: Context, phones: string[]): Promise<Map<string, ContactOfPhone>> {
  if (!phones.length) return new Map();
  const rows = await database.all<{ phone: string; id: number; timezone: string | null }>(idsByPhones(database, organization.id, phones));
  return new Map(rows.map(({ phone, id, timezone }) => [phone, { id, timezone }]));
}
