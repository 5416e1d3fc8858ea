import type { Context } from '../../context.ts';
import { forEachLiveCampaign, forEachStartedCampaign } from './for-each-campaign.ts';

/** Ends the rows of a deleted contact in all live campaigns. Repeatable. */
export const endCampaignRowsOfContact = (context: Context, contactId: number): Promise<void> =>
  forEachLiveCampaign(context, null, (object) => object.removeContact(contactId));

/** The same in all that were ever started: those that have ended forget the contact, too. Repeatable. */
export const eraseContactInCampaigns = (context: Context, contactId: number): Promise<void> =>
  forEachStartedCampaign(context, (object) => object.removeContact(contactId));
