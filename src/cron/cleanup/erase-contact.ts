import type { Context } from '../../context.ts';
import { eraseRuns } from '../../automation-workflows/runs/lifecycle/erase-runs.ts';
import { eraseDeliveries } from '../../automation-workflows/triggers/webhooks/erase-deliveries.ts';
import { endCampaignRowsOfContact, eraseContactInCampaigns } from '../../campaigns/subscribers.ts';
import { eraseConsents } from '../../contact-policy/consents.ts';
import { eraseEvents } from '../../events/erase-events.ts';
import { deleteContactLinksPage } from '../../integrations/sync/links/delete-links.ts';
import { eraseMessages } from '../../messaging/messages/erase-messages.ts';
import { eraseCalls } from '../../calls/records/erase-calls.ts';
import { eraseContactInArchives } from '../retention/erase-contact-in-archives.ts';
import { endLiveRuns } from '../../automation-workflows/runs/lifecycle/end-runs.ts';

type Progress = 'done' | 'more' | 'later';
type Part = (context: Context, contactId: number) => Promise<Progress | boolean>;

/** The parts, in order, a page of each: runs end before their events, and before the messages that they may be sending. */
const parts: Record<string, Part> = {
  links: deleteContactLinksPage,
  'live runs': (context, contactId) => endLiveRuns(context, { contactId }, { type: 'contact_deleted', message: 'The contact was deleted' }),
  events: eraseEvents,
  deliveries: eraseDeliveries,
  runs: eraseRuns,
  messages: eraseMessages,
  calls: eraseCalls,
  consents: eraseConsents,
};

/**
 * Erases a deleted contact from one page of each part. `more`: another page follows; `later`: a run or a file that names the contact is not
 * finished yet. A part that fails delays no other: its error is thrown when the other parts have nothing left to do at once. Repeatable.
 */
export async function eraseContact(context: Context, contactId: number): Promise<Progress> {
  const answers: Progress[] = [];
  const failures: unknown[] = [];
  const attempt = async (name: string, part: Part) => {
    try {
      const answer = await part(context, contactId);
      answers.push(typeof answer === 'string' ? answer : answer ? 'done' : 'more');
    } catch (error) {
      context.log.error('a part of a contact was not erased', error, { contact_id: contactId, part: name });
      failures.push(error);
    }
  };
  for (const [name, part] of Object.entries(parts)) await attempt(name, part);
  // Ended campaigns dial nobody, so they are erased only once, with the last page.
  const isLast = failures.length === 0 && answers.every((answer) => answer === 'done');
  const tell = isLast ? eraseContactInCampaigns : endCampaignRowsOfContact;
  await attempt('campaigns', async () => {
    await tell(context, contactId);
    return 'done';
  });
  // Comes after the campaigns: their rows may be moving into the archive at this moment.
  await attempt('archives', eraseContactInArchives);
  if (answers.includes('more')) return 'more';
  if (failures.length > 0) throw failures[0];
  return answers.includes('later') ? 'later' : 'done';
}
