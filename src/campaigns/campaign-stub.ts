import type { CampaignObject } from '../../durable-objects/campaign/campaign-object.ts';
import { callDurableObject } from '../library/platform/call-durable-object.ts';

/** A campaign's object as its callers see it: all that it takes and answers is plain data, which the platform's types cannot tell. */
export type CampaignStub = Pick<CampaignObject, Exclude<keyof CampaignObject, 'alarm' | 'fetch'>>;

/** Rows in one answer of an object: their variables may have 128 KiB each, and an answer 32 MiB. */
export const maxRowsPerCall = 200;

/** Calls a campaign's object, again when the call broke: every method of it is repeatable. */
export const callCampaignObject = <Answer>(
  bindings: Env,
  organizationId: number,
  campaignId: number,
  call: (object: CampaignStub) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.CAMPAIGN.getByName(`${organizationId}/${campaignId}`) as unknown as CampaignStub, call);
