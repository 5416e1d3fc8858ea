import type { Context } from '../../src/context.ts';
import { evaluateBlockingReason } from '../../src/campaigns/lifecycle/blocking-reason.ts';
import type { BlockingReason } from '../../src/campaigns/lifecycle/blocking-reason.ts';
import { isServiceError } from '../../src/library/errors.ts';
import { existingAgent } from '../../src/voice-agents/agents/existing-agent.ts';
import { loadDialingPolicy } from '../../src/telephony-configs/dialing-policy.ts';
import type { Campaign } from './campaign-store.ts';

/** Why the campaign would wait for ever as things are; null: it would not. */
export async function findBlockingReason(context: Context, { agentId, configs }: Campaign, now: number): Promise<BlockingReason | null> {
  const [agentStatus, { config }] = await Promise.all([readAgentStatus(context, agentId), loadDialingPolicy(context)]);
  return evaluateBlockingReason({ schedule: configs.schedule_config, agentStatus, hasTelephony: config !== null }, now);
}

async function readAgentStatus(context: Context, id: number): Promise<'active' | 'archived'> {
  try {
    return (await existingAgent(context, id)).status;
  } catch (error) {
    if (isServiceError(error)) return 'archived';
    throw error;
  }
}
