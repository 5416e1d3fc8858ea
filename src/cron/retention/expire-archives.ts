import { payloadKey } from '../../database/payload.ts';
import { deleteArchives, oldArchives, type StoredArchive } from './expiry-store.ts';
import { keptSince, type RetentionRule } from './rule.ts';

/** Files are read one by one: each may be 8 MiB. */
const archivesAtOnce = 5;
const payloadColumns = ['data', 'payload', 'initial_context', 'context_changes'];

/** Deletes files of the archive with all that their rows left in R2: large payloads, histories of runs. */
async function expirePage(bucket: R2Bucket, archives: StoredArchive[]): Promise<void> {
  for (const { organization_id: organizationId, kind, name } of archives) {
    const text = await (await bucket.get(name))?.text();
    const rows = (text ?? '').split('\n').flatMap((line) => (line ? [JSON.parse(line) as Record<string, unknown>] : []));
    const payloads = rows.flatMap((row) =>
      payloadColumns.flatMap((column) => (typeof row[column] === 'string' ? (payloadKey(row[column]) ?? []) : [])),
    );
    await deleteFiles(bucket, payloads);
    if (kind === 'automation_run') for (const row of rows) await deleteFolder(bucket, `runs/${organizationId}/${row['id'] as number}/`);
    await bucket.delete(name);
  }
}

async function deleteFiles(bucket: R2Bucket, names: string[]): Promise<void> {
  for (let start = 0; start < names.length; start += 1000) await bucket.delete(names.slice(start, start + 1000));
}

async function deleteFolder(bucket: R2Bucket, prefix: string): Promise<void> {
  const { objects } = await bucket.list({ prefix, limit: 1000 });
  await deleteFiles(
    bucket,
    objects.map(({ key }) => key),
  );
}

const removePage: RetentionRule['removePage'] = async (sweeping) => {
  const { bindings, database } = sweeping;
  const archives = await oldArchives(database, keptSince(sweeping, 'ARCHIVE_DAYS'), archivesAtOnce);
  if (archives.length === 0) return false;
  await expirePage(bindings.FILES, archives);
  await deleteArchives(
    database,
    archives.map(({ id }) => id),
  );
  return archives.length === archivesAtOnce;
};

/** The archive and whom it names go together. */
export const expireArchives: RetentionRule[] = [
  { table: 'archive', removePage },
  { table: 'archive_contact', removePage },
];
