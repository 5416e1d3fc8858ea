import { and, eq } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { contactsByIdsStatement, contactRecordFromRow } from '../../../contacts/contacts/find-contacts.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { integrationContact } from '../../../database/schema/integrations.ts';
import { firstLink, findContactLinkStatement } from '../links/store.ts';
import type { Link } from '../candidate.ts';

const linksOf = (integrationId: number, contactId: number) =>
  and(eq(integrationContact.contactId, contactId), eq(integrationContact.integrationId, integrationId));

/** Loads a contact with its link, and keeps syncs from the record until `until`: a page that was read before the push would undo it. */
export async function beginPush(
  context: Context,
  integrationId: number,
  contactId: number,
  until: number,
): Promise<{ contact: ContactRecord | null; link: Link | null }> {
  const { database } = context;
  const [links, , contacts] = await database.batch(
    [
      findContactLinkStatement(database, integrationId, contactId),
      database.from(database.orm.update(integrationContact).set({ pushedAt: until }).where(linksOf(integrationId, contactId))),
      contactsByIdsStatement(context, [contactId]),
    ],
    'idempotent',
  );
  return { contact: contacts[0] ? contactRecordFromRow(contacts[0]) : null, link: firstLink(links) };
}

/** Ends a push that has changed nothing. */
export async function releasePush(
  { database }: Context,
  integrationId: number,
  contactId: number,
  { until, pushedAt }: { until: number; pushedAt: number | null },
): Promise<void> {
  const query = database.orm
    .update(integrationContact)
    .set({ pushedAt })
    .where(and(linksOf(integrationId, contactId), eq(integrationContact.pushedAt, until)));
  await database.write(() => query, 'idempotent');
}

/** The records among `keys` that are linked to other contacts. */
export async function findRecordsOfOthers(
  { database }: Context,
  integrationId: number,
  contactId: number,
  keys: string[],
): Promise<Set<string>> {
  const rows = await database.all(
    database.prepare<{ external_id: string }>(
      `SELECT l.external_id FROM json_each(?2) j CROSS JOIN integration_contact l CROSS JOIN contact c
       WHERE l.integration_id = ?1 AND l.external_id = j.value AND l.contact_id <> ?3 AND c.id = l.contact_id AND c.deleted_at IS NULL`,
      integrationId,
      JSON.stringify(keys),
      contactId,
    ),
  );
  return new Set(rows.map((row) => row.external_id));
}

/** Links a record to a contact. `pushedAt` null: nothing was pushed to the record yet. */
export async function writeLink(
  { database, organization }: Context,
  integrationId: number,
  link: Pick<Link, 'key' | 'contactId' | 'seenHash' | 'seen' | 'pushedAt'>,
): Promise<void> {
  await database.all(
    database.prepare(
      `INSERT INTO integration_contact (integration_id, external_id, organization_id, contact_id, seen_hash, seen, pushed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (integration_id, external_id) DO UPDATE SET contact_id = excluded.contact_id, seen_hash = excluded.seen_hash,
         seen = excluded.seen, pushed_at = excluded.pushed_at`,
      integrationId,
      link.key,
      organization.id,
      link.contactId,
      link.seenHash,
      JSON.stringify(link.seen),
      link.pushedAt,
    ),
    'idempotent',
  );
}
