import type { Context } from '../accounts/context.ts';
import { forLiveCampaigns, forStartedCampaigns } from './for-live-campaigns.ts';

/** Ends the rows of a deleted contact in all live campaigns. Repeatable. */
export const contactDeletedInCampaigns = (context: Context, contactId: number): Promise<void> =>
  forLiveCampaigns(context, null, (object) => object.removeContact(contactId));

/** The same in all that were ever started: those that have ended forget the contact, too. Repeatable. */
export const eraseContactInCampaigns = (context: Context, contactId: number): Promise<void> =>
  forStartedCampaigns(context, (object) => object.removeContact(contactId));
