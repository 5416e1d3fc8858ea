import type { Context } from '../accounts/context.ts';
import { endLiveRuns } from '../automation-workflows/runs/end-live-runs.ts';
import { contactDeletedInCampaigns, eraseContactInCampaigns } from '../campaigns/contact-deleted.ts';
import { eraseContactTraces } from '../contacts/store-erase.ts';
import { forgetLinksTo } from '../integrations/sync/forget-links.ts';
import { eraseMessages } from '../messaging/erase-messages.ts';
import { eraseCalls } from '../voice-agents/runs/erase-calls.ts';

/**
 * One page of what else names a deleted contact: events, links to connected tools, live runs, messages, calls, rows of campaigns. `more`: another page follows; `later`: a call
 * with the contact still lasts, or a campaign was not reached. Repeatable.
 */
export async function eraseContact(context: Context, contactId: number): Promise<'done' | 'more' | 'later'> {
  const areUnlinked = await eraseContactTraces(context.database, context.organization.id, contactId);
  const areForgotten = await forgetLinksTo(context, contactId);
  const areEnded = await endLiveRuns(context, { contactId }, { type: 'contact_deleted', message: 'The contact was deleted' });
  // After the runs, which may just be sending.
  const areErased = await eraseMessages(context, contactId);
  const calls = await eraseCalls(context, contactId);
  const hasMore = !areUnlinked || !areForgotten || !areEnded || !areErased || calls === 'more';
  // Campaigns that have ended call nobody, so all are told only once, with the last page.
  const tell = hasMore || calls === 'later' ? contactDeletedInCampaigns : eraseContactInCampaigns;
  const areTold = await tell(context, contactId).then(
    () => true,
    (error: unknown) => {
      context.log.error('a campaign was not told of a deleted contact', error, { contact_id: contactId });
      return false;
    },
  );
  if (hasMore) return 'more';
  return calls === 'done' && areTold ? 'done' : 'later';
}
