import { deleteFiles, deleteFolder } from '../../../database/delete-files.ts';
import { payloadKey } from '../../../database/payload.ts';

interface ErasableRunFiles {
  id: number;
  /** JSON text, or a pointer into R2; null: its source keeps it. */
  initial_context: string | null;
}

/** Deletes all that an ended run has left in R2: its history, its own context, and what its steps added, of every time it was written. */
export async function deleteRunFiles(bucket: R2Bucket, organizationId: number, run: ErasableRunFiles): Promise<void> {
  const own = run.initial_context === null ? null : payloadKey(run.initial_context);
  if (own !== null) await deleteFiles(bucket, [own]);
  await deleteFolder(bucket, `runs/${organizationId}/${run.id}/`);
  await deleteFolder(bucket, `payloads/${organizationId}/runs/${run.id}-`);
}
