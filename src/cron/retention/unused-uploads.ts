import { deleteFolder } from '../../database/delete-files.ts';
import { retentionCutoff, type RetentionRun } from './rule.ts';
import {
  deleteUploadRows,
  isUsedByDocument,
  isUsedByCampaign,
  postponeUploadCheck,
  findOldUploads,
  type StoredUpload,
} from './upload-store.ts';

const pageSize = 20;

/** Deletes a page of the uploaded files that nothing is made of. False: that was all. */
export async function removeUnusedUploads(run: RetentionRun): Promise<boolean> {
  const { database, now } = run;
  const uploads = await findOldUploads(database, retentionCutoff(run, 'UPLOAD_RETENTION_DAYS'), pageSize);
  const needed: string[] = [];
  const settled: string[] = [];
  for (const upload of uploads) ((await isStillNeeded(run, upload)) ? needed : settled).push(upload.name);
  if (needed.length > 0) await postponeUploadCheck(database, needed, now);
  if (settled.length > 0) await deleteUploadRows(database, settled);
  return uploads.length === pageSize;
}

/** Deletes a file that nothing was made of. Returns whether the upload must be looked at again. A document deletes its own file. */
async function isStillNeeded(
  { bindings, database }: RetentionRun,
  { name, organization_id: organizationId }: StoredUpload,
): Promise<boolean> {
  const id = name
    .split('/')
    .at(-1)!
    .replace(/\.json$/, '');
  if (name.startsWith('campaign_sources/')) {
    if (await isUsedByCampaign(database, organizationId, id)) return true;
    // The rows of a workbook are stored below its file.
    await deleteFolder(bindings.FILES, `${name}/`);
  } else {
    if (await isUsedByDocument(database, organizationId, id)) return false;
    await deleteFolder(bindings.FILES, `knowledge_base/${organizationId}/${id}/`);
  }
  await bindings.FILES.delete(name);
  return false;
}
