import type { Source } from './source.ts';

export const failingEndpoints: Source = {
  columns: {
    at: 'coalesce(r.disabled_at, r.failing_since)',
    state: "iif(r.status = 'disabled', 'disabled', 'failing')",
    name: 'r.description',
    why: "coalesce(r.disabled_reason, 'The receiver has not taken an event since then')",
    next_try_at: "iif(r.status = 'active', r.wake_at, NULL)",
  },
  from: `webhook_endpoint r INDEXED BY webhook_endpoint_organization WHERE r.organization_id = ?1
    AND (r.status = 'disabled' OR (r.status = 'active' AND r.failing_since IS NOT NULL))`,
  order: 'id',
};
