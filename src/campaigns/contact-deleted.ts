import type { Context } from '../accounts/context.ts';
import { forLiveCampaigns } from './for-live-campaigns.ts';

/** Ends the rows of a deleted contact in all live campaigns. Repeatable. */
export const contactDeletedInCampaigns = (context: Context, contactId: number): Promise<void> =>
  forLiveCampaigns(context, null, (object) => object.removeContact(contactId));
