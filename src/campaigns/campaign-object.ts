import type { CampaignObject } from '../../durable-objects/campaign/campaign-object.ts';
import { callDurable } from '../library/call-durable.ts';

/** A campaign's object as its callers see it: all that it takes and answers is plain data, which the platform's types cannot tell. */
export type CampaignStub = Pick<CampaignObject, Exclude<keyof CampaignObject, 'alarm' | 'fetch'>>;

/** Rows in one answer of an object: their variables may have 128 KiB each, and an answer 32 MiB. */
export const rowsAtOnce = 200;

/** Calls a campaign's object, again when the call broke: every method of it is repeatable. */
export const campaignObject = <Answer>(
  bindings: Env,
  organizationId: number,
  campaignId: number,
  call: (object: CampaignStub) => Promise<Answer>,
): Promise<Answer> => callDurable(() => bindings.CAMPAIGN.getByName(`${organizationId}/${campaignId}`) as unknown as CampaignStub, call);
