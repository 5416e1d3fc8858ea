import type { Source } from './source.ts';

export const blockedCampaigns: Source = {
  columns: { at: 'coalesce(r.completed_at, r.started_at, r.created_at)', state: 'r.state', name: 'r.name', why: 'r.state_reason' },
  from: `campaign r INDEXED BY campaign_blocked WHERE r.organization_id = ?1 AND r.is_kept = 1
    AND (r.state = 'failed' OR (r.state_reason IS NOT NULL AND r.state IN ('syncing', 'running', 'paused')))`,
  order: 'id',
};
