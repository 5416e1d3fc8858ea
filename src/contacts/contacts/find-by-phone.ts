import type { Context } from '../../context.ts';
import { selectIdsByPhones } from './by-phone-store.ts';

export interface PhoneContact {
  id: number;
  /** Custom field `timezone`, as it stands there; null: it has none. */
  timezone: string | null;
}

/** The contacts that have these phone numbers (E.164), by number, in one indexed read. */
export async function findContactsByPhone({ database, organization }: Context, phones: string[]): Promise<Map<string, PhoneContact>> {
  if (!phones.length) return new Map();
  const rows = await database.all<{ phone: string; id: number; timezone: string | null }>(
    selectIdsByPhones(database, organization.id, phones),
  );
  return new Map(rows.map(({ phone, id, timezone }) => [phone, { id, timezone }]));
}
