import type { CampaignObject } from '../../durable-objects/campaign/campaign-object.ts';
import { callDurable } from '../library/call-durable.ts';

/** Calls a campaign's object, again when the call broke: every method of it is repeatable. */
export const campaignObject = <Answer>(
  bindings: Env,
  organizationId: number,
  campaignId: number,
  call: (object: DurableObjectStub<CampaignObject>) => Promise<Answer>,
): Promise<Answer> => callDurable(() => bindings.CAMPAIGN.getByName(`${organizationId}/${campaignId}`), call);
