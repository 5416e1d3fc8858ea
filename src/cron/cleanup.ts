import type { Context } from '../accounts/context.ts';
import { endLiveRuns } from '../automation-workflows/runs/end-live-runs.ts';
import { markLiveRuns } from '../automation-workflows/runs/mark-live-runs.ts';
import { releaseHeld } from '../automation-workflows/runs/release-held.ts';
import { tellParent } from '../automation-workflows/runs/stop.ts';
import { removeDeletedListMembers } from '../contacts/store-erase.ts';
import { forgetLinks } from '../integrations/sync/forget-links.ts';
import { deleteCleanup, openCleanup, type CleanupRow } from './cleanup-store.ts';
import { eraseContact } from './erase-contact.ts';

/**
 * One page of what follows from something gone or changed. Answers whether another page follows at once; the row leaves with the last.
 * What has to wait for others keeps its row, which the minute tick comes back to.
 */
export async function workOffCleanup(context: Context, id: number): Promise<boolean> {
  const { database, organization } = context;
  const row = await openCleanup(database, organization.id, id);
  if (!row) return false;
  const progress = await workOffPage(context, row);
  if (progress === 'done') await deleteCleanup(database, organization.id, id);
  return progress === 'more';
}

async function workOffPage(
  context: Context,
  { kind, subject_id: subjectId, up_to_id: upToId }: CleanupRow,
): Promise<'done' | 'more' | 'later'> {
  const { database, organization } = context;
  switch (kind) {
    case 'contact_deleted':
      return eraseContact(context, subjectId);
    case 'list_deleted':
      return doneOrMore(removeDeletedListMembers(database, organization.id, subjectId));
    case 'integration_disconnected':
      return doneOrMore(forgetLinks(context, subjectId));
    case 'workflow_archived':
      return doneOrMore(
        endLiveRuns(
          context,
          { workflowId: subjectId, upToId: upToId ?? Number.MAX_SAFE_INTEGER },
          { type: 'workflow_archived', message: 'The workflow was archived' },
        ),
      );
    case 'workflow_resumed':
      return doneOrMore(releaseHeld(context, subjectId));
    case 'run_ended':
      await tellParent(context, subjectId);
      return 'done';
    case 'runs_marked':
      return doneOrMore(markLiveRuns(context, subjectId));
  }
}

const doneOrMore = async (isDone: Promise<boolean>): Promise<'done' | 'more'> => ((await isDone) ? 'done' : 'more');
