import type { Context } from '../../context.ts';
import { notifyParent } from '../../automation-workflows/runs/lifecycle/stop-run.ts';
import { removeDeletedListMembers } from '../../contacts/lists/members.ts';
import { deleteLinksPage } from '../../integrations/sync/links/delete-links.ts';
import { deleteCleanup, findOpenCleanup, type CleanupRow } from './store.ts';
import { eraseContact } from './erase-contact.ts';
import { endLiveRuns } from '../../automation-workflows/runs/lifecycle/end-runs.ts';
import { markLiveRuns, releasePausedRuns } from '../../automation-workflows/runs/lifecycle/holds.ts';

/**
 * Does one page of a cleanup. Returns whether another page follows at once. The last page deletes the row of the cleanup. A cleanup that has to
 * wait keeps its row, and the minute tick takes the row up again.
 */
export async function processCleanup(context: Context, id: number): Promise<boolean> {
  const { database, organization } = context;
  const row = await findOpenCleanup(database, organization.id, id);
  if (!row) return false;
  const progress = await processPage(context, row);
  if (progress === 'done') await deleteCleanup(database, organization.id, id);
  return progress === 'more';
}

async function processPage(
  context: Context,
  { kind, subject_id: subjectId, up_to_id: upToId }: CleanupRow,
): Promise<'done' | 'more' | 'later'> {
  switch (kind) {
    case 'contact_deleted':
      return eraseContact(context, subjectId);
    case 'list_deleted':
      return doneOrMore(removeDeletedListMembers(context, subjectId));
    case 'integration_disconnected':
      return doneOrMore(deleteLinksPage(context, subjectId));
    case 'workflow_archived':
      return doneOrMore(
        endLiveRuns(
          context,
          { workflowId: subjectId, upToId: upToId ?? Number.MAX_SAFE_INTEGER },
          { type: 'workflow_archived', message: 'The workflow was archived' },
        ),
      );
    case 'workflow_resumed':
      return doneOrMore(releasePausedRuns(context, subjectId));
    case 'run_ended':
      await notifyParent(context, subjectId);
      return 'done';
    case 'runs_marked':
      return doneOrMore(markLiveRuns(context, subjectId));
  }
}

const doneOrMore = async (isDone: Promise<boolean>): Promise<'done' | 'more'> => ((await isDone) ? 'done' : 'more');
