import type { Context } from '../accounts/context.ts';

/** The id of the only contact with this e-mail address, compared without case; null when none or several have it. */
export async function contactIdByEmail(context: Context, email: string): Promise<number | null> {
  const { database, organization } = context;
  const rows = await database.all<{ id: number }>(
    database.prepare(
      'SELECT id FROM contact WHERE organization_id = ? AND lower(email) = lower(?) AND email IS NOT NULL LIMIT 2',
      organization.id,
      email.trim(),
    ),
  );
  return rows.length === 1 ? rows[0]!.id : null;
}
