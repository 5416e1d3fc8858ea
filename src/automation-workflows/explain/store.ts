import type { Database } from '../../database/client.ts';

export interface ListMembership {
  id: number;
  name: string;
  is_member: 0 | 1;
}

/** The lists of `listIds` that exist, each with whether the contact is on it. */
export async function findMemberships(
  database: Database,
  organizationId: number,
  contactId: number,
  listIds: number[],
): Promise<ListMembership[]> {
  if (!listIds.length) return [];
  return database.all(
    database.prepare<ListMembership>(
      `SELECT l.id, l.name, EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = l.id AND m.contact_id = ?) AS is_member
       FROM json_each(?) j CROSS JOIN contact_list l WHERE l.id = j.value AND l.organization_id = ? AND l.deleted_at IS NULL`,
      contactId,
      JSON.stringify(listIds),
      organizationId,
    ),
  );
}
