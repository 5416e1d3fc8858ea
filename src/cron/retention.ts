import type { Database } from '../database/client.ts';
import { settingsOf } from '../settings.ts';
import { deleteArchived, oldRows, type Retained } from './retention-store.ts';

const tables: Retained[] = ['automation_run', 'event', 'webhook_delivery'];

/** Moves a page of what is older than RETENTION_DAYS, ended and handled, from D1 to R2. Written first, then deleted: a crash repeats the page. */
export async function archiveOld(bindings: Env, database: Database, now: number): Promise<void> {
  const before = now - settingsOf(bindings).RETENTION_DAYS * 86_400_000;
  for (const table of tables) {
    const rows = await oldRows(database, table, before);
    for (const [organizationId, own] of Map.groupBy(rows, (row) => row.organization_id)) {
      const ids = own.map((row) => row.id);
      const name = `archive/${organizationId}/${table}/${ids[0]}-${ids.at(-1)}.ndjson`;
      await bindings.FILES.put(name, own.map((row) => JSON.stringify(row)).join('\n'), {
        httpMetadata: { contentType: 'application/x-ndjson' },
      });
      await deleteArchived(database, table, organizationId, ids);
    }
  }
}
