import type { Context } from '../../context.ts';
import { forEachLiveCampaign } from './for-each-campaign.ts';

/** Pauses the campaigns of a voice agent that takes no more calls. Repeatable. */
export const pauseCampaignsOfAgent = (context: Context, agentId: number): Promise<void> =>
  forEachLiveCampaign(context, agentId, (object) => object.pauseForArchivedAgent());
