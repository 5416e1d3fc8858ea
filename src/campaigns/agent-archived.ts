import type { Context } from '../accounts/context.ts';
import { forLiveCampaigns } from './for-live-campaigns.ts';

/** Pauses the campaigns of a voice agent that takes no more calls. Repeatable. */
export const agentArchived = (context: Context, agentId: number): Promise<void> =>
  forLiveCampaigns(context, agentId, (object) => object.agentArchived());
