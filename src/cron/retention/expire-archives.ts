import { parseArchive, deleteFilesOfRows } from './archived-files.ts';
import { deleteArchives, findOldArchives } from './archive-store.ts';
import { retentionCutoff, type RetentionRule } from './rule.ts';

/** Files are read one by one: each may be 8 MiB. */
const archivesPerPage = 5;

/** Deletes files of the archive with all that their rows left in R2. */
const removePage: RetentionRule['removePage'] = async (run) => {
  const { bindings, database } = run;
  const archives = await findOldArchives(database, retentionCutoff(run, 'ARCHIVE_DAYS'), archivesPerPage);
  if (archives.length === 0) return false;
  for (const { organization_id: organizationId, kind, name } of archives) {
    const file = await bindings.FILES.get(name);
    if (file) await deleteFilesOfRows(bindings.FILES, organizationId, kind, parseArchive(await file.text()));
    await bindings.FILES.delete(name);
  }
  await deleteArchives(
    database,
    archives.map(({ id }) => id),
  );
  return archives.length === archivesPerPage;
};

/** An archive and the list of contacts that it names are deleted together. */
export const expireArchives: RetentionRule[] = [
  { table: 'archive', setting: 'ARCHIVE_DAYS', removePage },
  { table: 'archive_contact', setting: 'ARCHIVE_DAYS', removePage },
];
