import type { Context } from '../../context.ts';
import { campaignRowKind } from '../../campaigns/rows/archived-rows.ts';
import { parseArchive, formatArchive, deleteFilesOfRows, type ArchivedRow } from './archived-files.ts';
import { type StoredArchive, findArchivesNamingContact, deleteArchiveContact } from './archive-store.ts';

/** Files are read one by one: each may be 8 MiB. */
const pageSize = 10;
/** A file that was written down so lately may just be on its way into R2. */
const writeWindowMs = 15 * 60_000;

/**
 * Removes a deleted contact's rows, and their R2 objects, from a page of the archives that name the contact. `more`: another page follows;
 * `later`: an archive is being written. Repeatable.
 */
export async function eraseContactInArchives(context: Context, contactId: number): Promise<'done' | 'more' | 'later'> {
  const { database, organization, clock } = context;
  const archives = await findArchivesNamingContact(database, organization.id, contactId, pageSize);
  const settled = archives.filter(({ created_at: createdAt }) => createdAt <= clock() - writeWindowMs);
  for (const archive of settled) {
    if (!(await removeContactFromArchive(context.bindings.FILES, archive, contactId))) return 'more';
    await deleteArchiveContact(database, contactId, archive.id);
  }
  if (archives.length === pageSize && settled.length > 0) return 'more';
  return settled.length < archives.length ? 'later' : 'done';
}

/** The report of a campaign keeps its rows, without the person. */
const anonymizeRow = (contactId: number) => (row: ArchivedRow) =>
  row['contact_id'] === contactId ? { ...row, contact_id: null, phone: '', variables: {} } : row;

/** False when the file was changed meanwhile. */
async function removeContactFromArchive(
  bucket: R2Bucket,
  { organization_id: organizationId, kind, name }: StoredArchive,
  contactId: number,
): Promise<boolean> {
  const file = await bucket.get(name);
  if (!file) return true;
  const rows = parseArchive(await file.text());
  const [own, others] = [rows.filter((row) => row['contact_id'] === contactId), rows.filter((row) => row['contact_id'] !== contactId)];
  if (own.length === 0) return true;
  await deleteFilesOfRows(bucket, organizationId, kind, own);
  const written = await bucket.put(name, formatArchive(kind === campaignRowKind ? rows.map(anonymizeRow(contactId)) : others), {
    onlyIf: { etagMatches: file.etag },
    httpMetadata: { contentType: 'application/x-ndjson' },
  });
  return written !== null;
}
