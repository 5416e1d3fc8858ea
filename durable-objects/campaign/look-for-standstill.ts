import type { Context } from '../../src/accounts/context.ts';
import { standstillOf } from '../../src/campaigns/standstill.ts';
import type { Standstill } from '../../src/campaigns/standstill.ts';
import { isServiceError } from '../../src/library/errors.ts';
import { existingAgent } from '../../src/voice-agents/agents/existing-agent.ts';
import { dialingTerms } from '../../src/voice-agents/telephony-configs/dialing-terms.ts';
import type { Campaign } from './stored-campaign.ts';

/** Why the campaign would wait for ever as things are; null: it would not. */
export async function lookForStandstill(context: Context, { agentId, configs }: Campaign, now: number): Promise<Standstill | null> {
  const [agentStatus, { config }] = await Promise.all([agentStatusOf(context, agentId), dialingTerms(context)]);
  return standstillOf({ schedule: configs.schedule_config, agentStatus, hasTelephony: config !== null }, now);
}

async function agentStatusOf(context: Context, id: number): Promise<'active' | 'archived'> {
  try {
    return (await existingAgent(context, id)).status;
  } catch (error) {
    if (isServiceError(error)) return 'archived';
    throw error;
  }
}
