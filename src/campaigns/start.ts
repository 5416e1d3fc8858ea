import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { conflict } from '../library/errors.ts';
import { existingAgentWithDefinition } from '../voice-agents/agents/existing-agent.ts';
import { requireSound } from '../voice-agents/agents/soundness.ts';
import { dialingTerms } from '../voice-agents/telephony-configs/dialing-terms.ts';
import { campaignObject } from './campaign-object.ts';
import { existingCampaign } from './existing-campaign.ts';
import { campaignRecord } from './records.ts';
import type { CampaignRecord } from './schemas.ts';
import { standstillOf } from './standstill.ts';
import type { CampaignRow } from './store.ts';

/** From draft to syncing. Throws 409 in any other state, and for a campaign that would stand still for ever; 422 when its agent is not sound. */
export async function startCampaign(context: Context, id: number): Promise<z.infer<typeof CampaignRecord>> {
  const { bindings, organization } = context;
  const row = await existingCampaign(context, id);
  if (row.state !== 'draft') throw conflict(`The campaign is ${row.state}; only a draft can be started`);
  await refuseStandstill(context, row);
  const request = randomUUID();
  return campaignRecord(row, await campaignObject(bindings, organization.id, id, (object) => object.start(organization.id, id, request)));
}

async function refuseStandstill(context: Context, { agent_id, schedule_config }: CampaignRow): Promise<void> {
  const [agent, terms] = await Promise.all([existingAgentWithDefinition(context, agent_id), dialingTerms(context)]);
  if (agent.status === 'active') await requireSound(context, agent, ['path', 'campaign_id']);
  const campaign = { schedule: schedule_config, agentStatus: agent.status, hasTelephony: terms.config !== null };
  const standstill = standstillOf(campaign, context.clock());
  if (standstill) throw conflict(`${standstill.reason}: ${standstill.detail}`);
}
