import { countsOf } from '../../src/campaigns/row-states.ts';
import type { CampaignProgress, LiveCampaign, LogEntry } from '../../src/campaigns/rows/live-campaign.ts';
import type { Campaign } from './stored-campaign.ts';
import type { StoredTally } from './stored-rows.ts';
import { shownTally } from './waiting-rows.ts';

export const liveCampaign = (campaign: Campaign, { rows }: StoredTally, logs: LogEntry[]): LiveCampaign => ({
  state: campaign.state,
  state_reason: campaign.stateReason,
  ...countsOf(rows),
  name: campaign.name,
  configs: campaign.configs,
  started_at: campaign.startedAt,
  completed_at: campaign.completedAt,
  logs,
});

type Waits = Pick<CampaignProgress, 'next_attempt_at' | 'next_window_at' | 'waiting'>;

/** `waitingRows`: how many of the rows stored as pending wait for their window. */
export function progressOf(
  { state, stateReason }: Campaign,
  { rows, outcomes, attempts }: StoredTally,
  waitingRows: number,
  waits: Waits,
): CampaignProgress {
  const dialled = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return {
    state,
    state_reason: stateReason,
    ...countsOf(rows),
    rows: shownTally(rows, waitingRows),
    attempts,
    reached_share: dialled === 0 ? null : outcomes.completed / dialled,
    outcomes,
    ...waits,
  };
}
