import type { Context } from '../../../context.ts';
import { callRun } from '../../rpc.ts';
import { deleteFiles, deleteFolder } from '../../../database/delete-files.ts';
import { payloadKey } from '../../../database/payload.ts';
import { findErasableRuns, eraseRunRows, type ErasableRun } from './store.ts';

const pageSize = 20;
/** An ended run's object exists for 30 days at most. */
const maxObjectLifetimeMs = 32 * 86_400_000;

/**
 * Erases a page of a deleted contact's ended runs: their objects, their histories and contexts in R2, and the personal data of their rows.
 * `more`: another page follows. `later`: a run still lives, or has just ended. Repeatable.
 */
export async function eraseRuns(context: Context, contactId: number): Promise<'done' | 'more' | 'later'> {
  const { database, organization, bindings } = context;
  const { ended, hasLive } = await findErasableRuns(database, organization.id, contactId, pageSize);
  const gone: ErasableRun[] = [];
  for (const run of ended) if (await isObjectGone(context, run)) gone.push(run);
  // Before the rows, which alone know where the files are.
  for (const run of gone) await deleteRunFiles(bindings.FILES, organization.id, run);
  if (gone.length > 0)
    await eraseRunRows(
      database,
      organization.id,
      gone.map(({ id }) => id),
    );
  if (ended.length === pageSize && gone.length > 0) return 'more';
  return hasLive || gone.length < ended.length ? 'later' : 'done';
}

const isObjectGone = async ({ bindings, organization, clock }: Context, run: ErasableRun): Promise<boolean> =>
  clock() - run.completed_at > maxObjectLifetimeMs ||
  (await callRun(bindings, organization.id, run.id, (object) => object.erase())) === 'gone';

interface ErasableRunFiles {
  id: number;
  /** JSON text, or a pointer into R2; null: its source keeps it. */
  initial_context: string | null;
}

/** Deletes an ended run's files in R2: its history, its own context, and every version of the context that its steps wrote. */
export async function deleteRunFiles(bucket: R2Bucket, organizationId: number, run: ErasableRunFiles): Promise<void> {
  const own = run.initial_context === null ? null : payloadKey(run.initial_context);
  if (own !== null) await deleteFiles(bucket, [own]);
  await deleteFolder(bucket, `runs/${organizationId}/${run.id}/`);
  await deleteFolder(bucket, `payloads/${organizationId}/runs/${run.id}-`);
}
