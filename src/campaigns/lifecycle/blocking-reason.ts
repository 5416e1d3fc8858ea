import type { Context } from '../../context.ts';
import { isServiceError } from '../../library/errors.ts';
import { loadDialingPolicy } from '../../telephony-configs/dialing-policy.ts';
import { existingAgent } from '../../voice-agents/agents/find-agents.ts';
import { findCallingWindow, type NoCallingWindow } from '../dialing/calling-windows.ts';
import type { ScheduleConfig } from '../configs/configs.ts';

export interface BlockingReason {
  /** The campaign's `state_reason`. */
  reason: NoCallingWindow['reason'] | 'agent_archived' | 'telephony_not_configured';
  detail: string;
}

/** Why a campaign can never dial unless a person changes something; null: it will dial in time. */
export function evaluateBlockingReason(
  campaign: { schedule: ScheduleConfig; agentStatus: 'active' | 'archived'; hasTelephony: boolean },
  now: number,
): BlockingReason | null {
  if (campaign.agentStatus === 'archived')
    return { reason: 'agent_archived', detail: 'The voice agent is archived and takes no calls; restore it and resume' };
  if (!campaign.hasTelephony)
    return { reason: 'telephony_not_configured', detail: 'The organization has no telephony configuration; add one and resume' };
  const window = findCallingWindow(campaign.schedule, campaign.schedule.timezone, now);
  return 'never' in window ? window.never : null;
}

/** Reads why a started campaign could never dial, as its agent, its organization's telephony and its schedule stand now. */
export async function findBlockingReason(
  context: Context,
  { agentId, schedule }: { agentId: number; schedule: ScheduleConfig },
  now: number,
): Promise<BlockingReason | null> {
  const [agentStatus, { config }] = await Promise.all([readAgentStatus(context, agentId), loadDialingPolicy(context)]);
  return evaluateBlockingReason({ schedule, agentStatus, hasTelephony: config !== null }, now);
}

/** A deleted agent counts as archived. */
async function readAgentStatus(context: Context, id: number): Promise<'active' | 'archived'> {
  try {
    return (await existingAgent(context, id)).status;
  } catch (error) {
    if (isServiceError(error)) return 'archived';
    throw error;
  }
}
