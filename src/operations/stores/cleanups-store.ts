import type { Database, Statement } from '../../database/client.ts';
import type { Source } from './source.ts';

export const givenUpCleanups: Source = {
  columns: { at: 'r.created_at', state: "'given_up'", name: 'r.kind', why: 'r.note' },
  from: 'cleanup r INDEXED BY cleanup_stuck WHERE r.organization_id = ?1 AND r.note IS NOT NULL',
  order: 'id',
};

/** Opens a cleanup that was given up. */
export const reopenCleanupStatement = (database: Database, organizationId: number, id: number): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(
    'UPDATE cleanup SET note = NULL WHERE id = ?1 AND organization_id = ?2 AND note IS NOT NULL RETURNING id',
    id,
    organizationId,
  );
