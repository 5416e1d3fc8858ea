import type { Database } from './client.ts';

/** Writes down that a file may be uploaded, before it can be: one that nothing is made of is found and deleted by this. */
export async function recordUpload(database: Database, organizationId: number, name: string, now: number): Promise<void> {
  await database.all(
    database.prepare(
      'INSERT INTO upload (name, organization_id, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET created_at = excluded.created_at',
      name,
      organizationId,
      now,
    ),
    'upload.name',
  );
}
