import type { CampaignObject } from '../../durable-objects/campaign/campaign-object.ts';
import { callDurable } from '../library/call-durable.ts';

/** A campaign's object as its callers see it: all that it takes and answers is plain data, which the platform's types cannot tell. */
type CampaignStub = Pick<CampaignObject, Exclude<keyof CampaignObject, 'alarm' | 'fetch'>>;

/** Calls a campaign's object, again when the call broke: every method of it is repeatable. */
export const campaignObject = <Answer>(
  bindings: Env,
  organizationId: number,
  campaignId: number,
  call: (object: CampaignStub) => Promise<Answer>,
): Promise<Answer> => callDurable(() => bindings.CAMPAIGN.getByName(`${organizationId}/${campaignId}`) as unknown as CampaignStub, call);
