import type { Database, Statement } from '../../../database/client.ts';
import type { integrationContact } from '../../../database/schema/index.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import { jsonChunks } from '../../../database/json-chunks.ts';
import type { Link } from '../candidate.ts';
import type { LinkToWrite } from '../plan-page.ts';
import type { PersonRows } from '../rows-of-person.ts';

const linkColumns = 'l.external_id, l.contact_id, l.seen_hash, l.seen, l.seen_in, l.pushed_at';

type LinkRow = Pick<StoredRow<typeof integrationContact>, 'external_id' | 'contact_id' | 'seen_hash' | 'seen' | 'seen_in' | 'pushed_at'> & {
  is_listed: number;
  is_written_by_other: number;
};

function toLink(row: LinkRow): Link {
  const { rows, read, ...seen } = JSON.parse(row.seen) as StoredValues;
  return {
    key: row.external_id,
    contactId: row.contact_id,
    seenHash: row.seen_hash,
    seen: seen as Record<string, string>,
    several: rows === undefined ? null : { rows, read: read ?? 0 },
    seenIn: row.seen_in,
    pushedAt: row.pushed_at,
    isListed: row.is_listed === 1,
    isWrittenByOther: row.is_written_by_other === 1,
  };
}

/** The values of a link by contact field, none of which is called `rows` or `read`, and those of its rows if they are several. */
type StoredValues = Partial<PersonRows> & Record<string, unknown>;

const toStoredValues = ({ seen, several }: LinkToWrite): string => JSON.stringify({ ...seen, ...several });

/** The links of records by their keys, without links to deleted contacts. `reading`: the `began` of the current one. */
export async function findLinks(
  database: Database,
  { organizationId, integrationId }: { organizationId: number; integrationId: number },
  keys: string[],
  { listName, reading }: { listName: string | null; reading: number },
): Promise<Map<string, Link>> {
  const rows = await database.all(
    database.prepare<LinkRow>(
      `SELECT ${linkColumns}, EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = list.id AND m.contact_id = l.contact_id) AS is_listed,
         EXISTS (SELECT 1 FROM integration_contact o
           WHERE o.contact_id = l.contact_id AND o.integration_id = ?1 AND o.seen_in = ?5 AND o.external_id <> l.external_id
         ) AS is_written_by_other
       FROM (SELECT (SELECT id FROM contact_list WHERE organization_id = ?2 AND name = ?4 AND deleted_at IS NULL) AS id) list
         CROSS JOIN json_each(?3) j CROSS JOIN integration_contact l CROSS JOIN contact c
       WHERE l.integration_id = ?1 AND l.external_id = j.value AND c.id = l.contact_id AND c.organization_id = ?2 AND c.deleted_at IS NULL`,
      integrationId,
      organizationId,
      JSON.stringify(keys),
      listName,
      reading,
    ),
  );
  return new Map(rows.map(toLink).map((link) => [link.key, link]));
}

/** Writes links, for a batch after the statements that write the contacts. A new contact is found by its phone or external id. */
export const writeLinksStatements = (
  database: Database,
  { organizationId, integrationId }: { organizationId: number; integrationId: number },
  links: LinkToWrite[],
  reading: number,
): Statement[] =>
  jsonChunks(links.map((link) => [link.key, link.contactId, link.phone, link.externalId, link.seenHash, toStoredValues(link)])).map(
    (chunk) =>
      database.prepare(
        `INSERT INTO integration_contact (integration_id, external_id, organization_id, contact_id, seen_hash, seen, seen_in)
         SELECT ?1, j.value ->> 0, ?2, coalesce(
             j.value ->> 1,
             (SELECT c.id FROM contact c WHERE c.organization_id = ?2 AND c.phone = j.value ->> 2),
             (SELECT c.id FROM contact c WHERE c.organization_id = ?2 AND c.external_id = j.value ->> 3)
           ), j.value ->> 4, j.value ->> 5, ?3
         FROM json_each(?4) j WHERE true
         ON CONFLICT (integration_id, external_id) DO UPDATE SET contact_id = excluded.contact_id, seen_hash = excluded.seen_hash,
           seen = excluded.seen, seen_in = excluded.seen_in`,
        integrationId,
        organizationId,
        reading,
        chunk,
      ),
  );

/**
 * Links that a reading has not written, ordered by key, at most `limit`. `isElsewhere`: the reading has written another link of the
 * contact.
 */
export async function findLinksNotWritten(
  database: Database,
  integrationId: number,
  { reading, after, limit }: { reading: number; after: string; limit: number },
): Promise<{ key: string; contactId: number; isElsewhere: boolean }[]> {
  const rows = await database.all(
    database.prepare<Pick<LinkRow, 'external_id' | 'contact_id'> & { is_elsewhere: number }>(
      `SELECT l.external_id, l.contact_id, EXISTS (
         SELECT 1 FROM integration_contact o WHERE o.contact_id = l.contact_id AND o.integration_id = ?1 AND o.seen_in = ?2
       ) AS is_elsewhere
       FROM integration_contact l WHERE l.integration_id = ?1 AND l.external_id > ?3 AND l.seen_in IS NOT ?2 ORDER BY l.external_id LIMIT ?4`,
      integrationId,
      reading,
      after,
      limit,
    ),
  );
  return rows.map((row) => ({
    key: row.external_id,
    contactId: row.contact_id,
    isElsewhere: row.is_elsewhere === 1,
  }));
}

export const deleteLinksStatement = (database: Database, integrationId: number, keys: string[]): Statement =>
  database.prepare(
    'DELETE FROM integration_contact WHERE integration_id = ? AND external_id IN (SELECT value FROM json_each(?))',
    integrationId,
    JSON.stringify(keys),
  );

/** Deletes links of an integration; returns the number. */
export async function deleteIntegrationLinks(
  database: Database,
  organizationId: number,
  integrationId: number,
  limit: number,
): Promise<number> {
  const rows = await database.all(
    database.prepare(
      `DELETE FROM integration_contact WHERE integration_id = ?1 AND organization_id = ?2 AND external_id IN (
         SELECT external_id FROM integration_contact WHERE integration_id = ?1 ORDER BY external_id LIMIT ?3
       ) RETURNING 1`,
      integrationId,
      organizationId,
      limit,
    ),
    'idempotent',
  );
  return rows.length;
}

/** Deletes links of a deleted contact; returns the number. */
export async function deleteContactLinks(database: Database, organizationId: number, contactId: number, limit: number): Promise<number> {
  const rows = await database.all(
    database.prepare(
      `DELETE FROM integration_contact WHERE rowid IN (SELECT rowid FROM integration_contact WHERE contact_id = ?1 LIMIT ?3)
         AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL) RETURNING 1`,
      contactId,
      organizationId,
      limit,
    ),
    'idempotent',
  );
  return rows.length;
}

/** Selects the contact's link that was last read, or else any of its links. */
export const findContactLinkStatement = (database: Database, integrationId: number, contactId: number): Statement<LinkRow> =>
  database.prepare<LinkRow>(
    `SELECT ${linkColumns}, 0 AS is_listed, 0 AS is_written_by_other FROM integration_contact l WHERE l.contact_id = ? AND l.integration_id = ?
     ORDER BY l.seen_in DESC NULLS LAST, l.external_id DESC LIMIT 1`,
    contactId,
    integrationId,
  );

export const firstLink = (rows: LinkRow[]): Link | null => (rows[0] ? toLink(rows[0]) : null);
