import type { Context } from '../accounts/context.ts';
import { endLiveRuns } from '../automation-workflows/runs/end-live-runs.ts';
import { markLiveRuns } from '../automation-workflows/runs/mark-live-runs.ts';
import { releaseHeld } from '../automation-workflows/runs/release-held.ts';
import { contactDeletedInCampaigns } from '../campaigns/contact-deleted.ts';
import { eraseContactTraces, removeDeletedListMembers } from '../contacts/store-erase.ts';
import { deleteCleanup, openCleanup, type CleanupRow } from './cleanup-store.ts';

/** One page of what follows from something gone or changed. Answers whether another page follows; the row leaves with the last. */
export async function workOffCleanup(context: Context, id: number): Promise<boolean> {
  const { database, organization } = context;
  const row = await openCleanup(database, organization.id, id);
  if (!row) return false;
  if (await isDone(context, row)) {
    await deleteCleanup(database, organization.id, id);
    return false;
  }
  return true;
}

async function isDone(context: Context, { kind, subject_id: subjectId, created_at: createdAt }: CleanupRow): Promise<boolean> {
  const { database, organization } = context;
  switch (kind) {
    case 'list_deleted':
      return removeDeletedListMembers(database, organization.id, subjectId);
    case 'contact_deleted': {
      const areEnded = await endLiveRuns(
        context,
        { contactId: subjectId },
        { type: 'contact_deleted', message: 'The contact was deleted' },
      );
      await contactDeletedInCampaigns(context, subjectId);
      return (await eraseContactTraces(database, organization.id, subjectId)) && areEnded;
    }
    case 'workflow_archived':
      return endLiveRuns(
        context,
        { workflowId: subjectId, at: createdAt },
        { type: 'workflow_archived', message: 'The workflow was archived' },
      );
    case 'workflow_resumed':
      return releaseHeld(context, subjectId);
    case 'runs_marked':
      return markLiveRuns(context, subjectId);
  }
}
