import { toRowCounts } from '../../src/campaigns/rows/row-states.ts';
import type { CampaignProgress, LiveCampaign, LogEntry } from '../../src/campaigns/rpc.ts';
import type { Campaign } from './campaign-store.ts';
import type { StoredTally } from './row-tally.ts';
import { toShownTally } from './time-zone-groups.ts';

export const toLiveCampaign = (campaign: Campaign, { rows }: StoredTally, logs: LogEntry[]): LiveCampaign => ({
  state: campaign.state,
  state_reason: campaign.stateReason,
  ...toRowCounts(rows),
  name: campaign.name,
  configs: campaign.configs,
  started_at: campaign.startedAt,
  completed_at: campaign.completedAt,
  logs,
});

type WaitTimes = Pick<CampaignProgress, 'next_attempt_at' | 'next_window_at' | 'waiting'>;

/** `waitingRows` is how many of the rows that are stored as pending wait for a calling window. */
export function toCampaignProgress(
  { state, stateReason }: Campaign,
  { rows, outcomes, attempts }: StoredTally,
  waitingRows: number,
  waits: WaitTimes,
): CampaignProgress {
  const dialled = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return {
    state,
    state_reason: stateReason,
    ...toRowCounts(rows),
    rows: toShownTally(rows, waitingRows),
    attempts,
    reached_share: dialled === 0 ? null : outcomes.completed / dialled,
    outcomes,
    ...waits,
  };
}
