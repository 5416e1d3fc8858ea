import type { Database, Statement } from '../../database/client.ts';
import type { OldRow, RetainedTable } from './old-rows-store.ts';

/** Rows of one organization that go into one file. */
export interface ArchivedPage {
  organizationId: number;
  /** The file's key in R2. */
  name: string;
  ids: number[];
}

export type FullRow = OldRow & Record<string, unknown>;

const toRowLocations = (pages: ArchivedPage[]): string =>
  JSON.stringify(pages.flatMap(({ organizationId, name, ids }) => ids.map((id) => ({ id, organization_id: organizationId, name }))));

const archivedRowsSql = (table: string) =>
  `json_each(?1) j CROSS JOIN ${table} old WHERE old.id = j.value ->> 'id' AND old.organization_id = j.value ->> 'organization_id'`;

/**
 * Writes down which files are about to be written and whom they name, and answers their rows as they are at that moment: what a contact's
 * erasure changed before is not in them, and what it changes later knows of the files.
 */
export async function registerArchives(
  database: Database,
  { table, hasContact }: Pick<RetainedTable, 'table'> & { hasContact: boolean },
  pages: ArchivedPage[],
  now: number,
): Promise<FullRow[]> {
  const json = toRowLocations(pages);
  const list = database.prepare(
    `INSERT INTO archive (organization_id, kind, name, created_at)
     SELECT DISTINCT j.value ->> 'organization_id', ?2, j.value ->> 'name', ?3 FROM json_each(?1) j WHERE true
     ON CONFLICT (organization_id, name) DO UPDATE SET created_at = excluded.created_at`,
    json,
    table,
    now,
  );
  const name = database.prepare(
    `INSERT OR IGNORE INTO archive_contact (contact_id, archive_id)
     SELECT old.contact_id, a.id FROM json_each(?1) j CROSS JOIN ${table} old CROSS JOIN archive a
     WHERE old.id = j.value ->> 'id' AND old.organization_id = j.value ->> 'organization_id' AND old.contact_id IS NOT NULL
       AND a.organization_id = old.organization_id AND a.name = j.value ->> 'name'`,
    json,
  );
  const rows = database.prepare(`SELECT old.* FROM ${archivedRowsSql(table)} ORDER BY old.id`, json);
  const answers = await database.batch([list, ...(hasContact ? [name] : []), rows], 'archive.name');
  return answers.at(-1) as unknown as FullRow[];
}

/** Deletes rows that are in a file by now and still done; `counters` go down in the same step, before. */
export async function deleteArchived(
  database: Database,
  { table, isDone }: Pick<RetainedTable, 'table' | 'isDone'>,
  pages: ArchivedPage[],
  counters: ((database: Database, json: string, gone: string) => Statement) | undefined,
): Promise<void> {
  const json = toRowLocations(pages);
  const gone = `${archivedRowsSql(table)} AND ${isDone}`;
  await database.batch(
    [
      ...(counters ? [counters(database, json, gone)] : []),
      database.prepare(`DELETE FROM ${table} WHERE id IN (SELECT old.id FROM ${gone})`, json),
    ],
    'idempotent',
  );
}
