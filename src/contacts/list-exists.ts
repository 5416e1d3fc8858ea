import type { Context } from '../accounts/context.ts';

export async function listExists(context: Context, listId: number): Promise<boolean> {
  const { database, organization } = context;
  const found = await database.first(
    database.prepare('SELECT 1 FROM contact_list WHERE id = ? AND organization_id = ? AND deleted_at IS NULL', listId, organization.id),
  );
  return found !== null;
}
