import type { Source } from './source.ts';

export const failingIntegrations: Source = {
  columns: {
    at: 'r.updated_at',
    state: "iif(r.is_active = 1, 'failing', 'disconnected')",
    name: 'r.provider',
    why: 'r.last_error',
    next_try_at: 'r.next_sync_at',
  },
  from: 'integration r INDEXED BY integration_current WHERE r.organization_id = ?1 AND r.disconnected_at IS NULL AND r.last_error IS NOT NULL',
  order: 'id',
};
