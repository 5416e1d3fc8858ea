import { findCallingWindow } from '../dialing/calling-windows.ts';
import type { NoCallingWindow } from '../dialing/calling-windows.ts';
import type { ScheduleConfig } from '../configs/configs.ts';

export interface BlockingReason {
  /** The campaign's `state_reason`. */
  reason: NoCallingWindow['reason'] | 'agent_archived' | 'telephony_not_configured';
  detail: string;
}

/** Why a campaign would wait for ever if nobody changed anything; null when time alone brings it on. */
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
