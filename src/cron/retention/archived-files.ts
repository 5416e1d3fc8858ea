import { deleteFiles } from '../../database/delete-files.ts';
import { payloadKey } from '../../database/payload.ts';
import { deleteRunFiles } from '../../automation-workflows/runs/lifecycle/erase-runs.ts';

/** An archived row, with the columns of its table. */
export type ArchivedRow = Record<string, unknown>;

const payloadColumns = ['data', 'payload', 'initial_context', 'context_changes'];

/** The rows of a file of the archive. */
export const parseArchive = (text: string): ArchivedRow[] =>
  text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as ArchivedRow] : []));

export const formatArchive = (rows: ArchivedRow[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** Deletes the R2 objects of archived rows: large payloads and histories of runs. */
export async function deleteFilesOfRows(bucket: R2Bucket, organizationId: number, kind: string, rows: ArchivedRow[]): Promise<void> {
  const stored = rows.flatMap((row) => payloadColumns.map((column) => row[column]));
  await deleteFiles(
    bucket,
    stored.flatMap((text) => (typeof text === 'string' ? (payloadKey(text) ?? []) : [])),
  );
  if (kind !== 'automation_run') return;
  for (const { id } of rows) await deleteRunFiles(bucket, organizationId, { id: id as number, initial_context: null });
}
