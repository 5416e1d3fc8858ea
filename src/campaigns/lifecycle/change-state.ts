import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { currentActor } from '../../database/audit/actor.ts';
import { conflict } from '../../library/errors.ts';
import { requireSound } from '../../voice-agents/agents/soundness.ts';
import { agentAtVersion } from '../../voice-agents/versions/find-version.ts';
import { loadDialingPolicy } from '../../telephony-configs/dialing-policy.ts';
import { callCampaignObject } from '../rpc.ts';
import { type CampaignRow, existingCampaign } from '../store.ts';
import { campaignRecord } from '../queries/records.ts';
import type { CampaignRecord } from '../schemas.ts';
import { evaluateBlockingReason } from './blocking-reason.ts';

/**
 * Starts a draft, which is then syncing. Throws 409 in any other state, and for a campaign that could never dial; 422 when its voice agent is not
 * sound.
 */
export async function startCampaign(context: Context, id: number): Promise<z.infer<typeof CampaignRecord>> {
  const { bindings, organization } = context;
  const row = await existingCampaign(context, id);
  if (row.state !== 'draft') throw conflict(`The campaign is ${row.state}; only a draft can be started`);
  await refuseIfBlocked(context, row);
  const request = randomUUID();
  const actor = currentActor();
  return campaignRecord(
    row,
    await callCampaignObject(bindings, organization.id, id, (object) => object.start(organization.id, id, request, actor)),
  );
}

async function refuseIfBlocked(context: Context, { agent_id, definition_id, schedule_config }: CampaignRow): Promise<void> {
  const [agent, policy] = await Promise.all([agentAtVersion(context, agent_id, definition_id), loadDialingPolicy(context)]);
  if (agent.status === 'active') await requireSound(context, agent, ['path', 'campaign_id']);
  const campaign = { schedule: schedule_config, agentStatus: agent.status, hasTelephony: policy.config !== null };
  const blocking = evaluateBlockingReason(campaign, context.clock());
  if (blocking) throw conflict(`${blocking.reason}: ${blocking.detail}`);
}

const pastParticiples = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' };
const allowedStates = { pause: 'running or syncing', resume: 'paused', cancel: 'syncing, running or paused' };

/**
 * Pauses, resumes or cancels a campaign. Throws 409 in a state that does not allow the change, naming the state; 422 for a resume whose voice
 * agent is not sound.
 */
export async function changeCampaignState(
  context: Context,
  id: number,
  verb: 'pause' | 'resume' | 'cancel',
): Promise<z.infer<typeof CampaignRecord>> {
  const { bindings, organization } = context;
  const row = await existingCampaign(context, id);
  if (row.state === 'draft')
    throw conflict(
      `The campaign is draft and cannot be ${pastParticiples[verb]}; it can when it is ${allowedStates[verb]}. POST /campaign/${id}/start starts it`,
    );
  if (row.archive)
    throw conflict(`The campaign is ${row.state} and cannot be ${pastParticiples[verb]}; it can when it is ${allowedStates[verb]}`);
  if (verb === 'resume' && row.state === 'paused')
    await requireSound(context, await agentAtVersion(context, row.agent_id, row.definition_id), ['path', 'campaign_id']);
  const request = randomUUID();
  const actor = currentActor();
  const live = await callCampaignObject(bindings, organization.id, id, async (object) => {
    // A start that broke off has left no object.
    if (row.state === 'syncing') await object.wakeStalled(organization.id, id);
    return object[verb](request, actor);
  });
  return campaignRecord(row, live);
}
