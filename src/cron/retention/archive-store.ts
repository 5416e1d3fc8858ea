import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import { roundRobinQuery } from '../../database/round-robin-query.ts';
import type { Database, Statement } from '../../database/client.ts';
import { archiveContact } from '../../database/schema/operations.ts';
import type { OldRow, RetainedTable } from './old-rows-store.ts';

export interface StoredArchive {
  id: number;
  organization_id: number;
  kind: string;
  /** Its key in R2. */
  name: string;
}

/** Archives written before `before`, of organizations in turns. */
export const findOldArchives = (database: Database, before: number, limit: number): Promise<StoredArchive[]> =>
  database.all(
    database.prepare<StoredArchive>(
      roundRobinQuery(
        'id, organization_id, kind, name',
        `archive WHERE created_at < ? AND ${isNotInTransitSql('organization_id')}`,
        'created_at',
      ),
      before,
      limit,
    ),
  );

export async function deleteArchives(database: Database, ids: number[]): Promise<void> {
  const json = JSON.stringify(ids);
  await database.batch(
    [
      database.prepare('DELETE FROM archive_contact WHERE archive_id IN (SELECT value FROM json_each(?))', json),
      database.prepare('DELETE FROM archive WHERE id IN (SELECT value FROM json_each(?))', json),
    ],
    'idempotent',
  );
}

/** Rows of one organization that are written into one file. */
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
 * Registers the files that are about to be written, with the contacts that they name, and returns their rows as of the same moment. An
 * erasure before that moment has changed the rows; an erasure after it finds the registered files.
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
  const contacts = () =>
    database.prepare(
      `INSERT OR IGNORE INTO archive_contact (contact_id, archive_id)
       SELECT old.contact_id, a.id FROM json_each(?1) j CROSS JOIN ${table} old CROSS JOIN archive a
       WHERE old.id = j.value ->> 'id' AND old.organization_id = j.value ->> 'organization_id' AND old.contact_id IS NOT NULL
         AND a.organization_id = old.organization_id AND a.name = j.value ->> 'name'`,
      json,
    );
  const rows = database.prepare<FullRow>(`SELECT old.* FROM ${archivedRowsSql(table)} ORDER BY old.id`, json);
  const [, full] = await database.batch([list, rows, ...(hasContact ? [contacts()] : [])], 'archive.name');
  return full;
}

/** Deletes archived rows that are still done, and decreases `counters` in the same transaction, before the rows go. */
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

/** A page of the archives that name a deleted contact. */
export const findArchivesNamingContact = (
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<(StoredArchive & { created_at: number })[]> =>
  database.all(
    database.prepare<StoredArchive & { created_at: number }>(
      `SELECT a.id, a.organization_id, a.kind, a.name, a.created_at FROM archive_contact c CROSS JOIN archive a
       WHERE c.contact_id = ?1 AND a.id = c.archive_id AND a.organization_id = ?2
         AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL) LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
  );

export async function deleteArchiveContact(database: Database, contactId: number, archiveId: number): Promise<void> {
  const query = database.orm
    .delete(archiveContact)
    .where(and(eq(archiveContact.contactId, contactId), eq(archiveContact.archiveId, archiveId)));
  await database.write(() => query, 'idempotent');
}
