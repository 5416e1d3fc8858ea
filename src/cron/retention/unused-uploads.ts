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
export async function removeUnusedUploads(sweeping: RetentionRun): Promise<boolean> {
  const { database, now } = sweeping;
  const uploads = await findOldUploads(database, retentionCutoff(sweeping, 'UPLOAD_RETENTION_DAYS'), pageSize);
  const needed: string[] = [];
  const settled: string[] = [];
  for (const upload of uploads) ((await isStillNeeded(sweeping, upload)) ? needed : settled).push(upload.name);
  if (needed.length > 0) await postponeUploadCheck(database, needed, now);
  if (settled.length > 0) await deleteUploadRows(database, settled);
  return uploads.length === pageSize;
}

/** Whether it has to be looked at again; deletes a file that nobody needs. A document sees to its own file from then on. */
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
  } else {
    if (await isUsedByDocument(database, organizationId, id)) return false;
    await deleteFolder(bindings.FILES, `knowledge_base/${organizationId}/${id}/`);
  }
  await bindings.FILES.delete(name);
  return false;
}
