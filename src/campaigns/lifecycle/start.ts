import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { existingAgentWithDefinition } from '../../voice-agents/agents/existing-agent.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { loadDialingPolicy } from '../../telephony-configs/dialing-policy.ts';
import { callCampaignObject } from '../campaign-stub.ts';
import { existingCampaign } from '../queries/existing-campaign.ts';
import { campaignRecord } from '../queries/records.ts';
import type { CampaignRecord } from '../schemas.ts';
import { evaluateBlockingReason } from './blocking-reason.ts';
import type { CampaignRow } from '../store.ts';

/** From draft to syncing. Throws 409 in any other state, and for a campaign that would stand still for ever; 422 when its agent is not sound. */
export async function startCampaign(context: Context, id: number): Promise<z.infer<typeof CampaignRecord>> {
  const { bindings, organization } = context;
  const row = await existingCampaign(context, id);
  if (row.state !== 'draft') throw conflict(`The campaign is ${row.state}; only a draft can be started`);
  await refuseIfBlocked(context, row);
  const request = randomUUID();
  return campaignRecord(
    row,
    await callCampaignObject(bindings, organization.id, id, (object) => object.start(organization.id, id, request)),
  );
}

async function refuseIfBlocked(context: Context, { agent_id, schedule_config }: CampaignRow): Promise<void> {
  const [agent, terms] = await Promise.all([existingAgentWithDefinition(context, agent_id), loadDialingPolicy(context)]);
  if (agent.status === 'active') await requireSound(context, agent, ['path', 'campaign_id']);
  const campaign = { schedule: schedule_config, agentStatus: agent.status, hasTelephony: terms.config !== null };
  const standstill = evaluateBlockingReason(campaign, context.clock());
  if (standstill) throw conflict(`${standstill.reason}: ${standstill.detail}`);
}
