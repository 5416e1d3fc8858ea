import { callingWindow } from './calling-windows.ts';
import type { NoWindow } from './calling-windows.ts';
import type { ScheduleConfig } from './configs.ts';

export interface Standstill {
  /** The campaign's `state_reason`. */
  reason: NoWindow['reason'] | 'agent_archived' | 'telephony_not_configured';
  detail: string;
}

/** Why a campaign would wait for ever if nobody changed anything; null when time alone brings it on. */
export function standstillOf(
  campaign: { schedule: ScheduleConfig; agentStatus: 'active' | 'archived'; hasTelephony: boolean },
  now: number,
): Standstill | null {
  if (campaign.agentStatus === 'archived')
    return { reason: 'agent_archived', detail: 'The voice agent is archived and takes no calls; restore it and resume' };
  if (!campaign.hasTelephony)
    return { reason: 'telephony_not_configured', detail: 'The organization has no telephony configuration; add one and resume' };
  const window = callingWindow(campaign.schedule, campaign.schedule.timezone, now);
  return 'never' in window ? window.never : null;
}
