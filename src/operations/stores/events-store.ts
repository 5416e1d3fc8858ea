import type { Database, Statement } from '../../database/client.ts';
import { maxScannedRows, type Backlog } from './backlog.ts';
import { isGivenUpSql, type Source } from './source.ts';

export const givenUpEvents: Source = {
  columns: { at: 'r.handled_at', state: "'given_up'", name: 'r.event_type', why: 'r.note' },
  from: `event r INDEXED BY event_given_up WHERE r.organization_id = ?1 AND ${isGivenUpSql}`,
  order: 'id',
};

/** Machines that accept events have clocks that differ by less than this. */
const clockToleranceMs = 60_000;

const firstSql = (direction: 'ASC' | 'DESC'): string =>
  `SELECT * FROM (SELECT id, created_at, handled_at FROM event INDEXED BY event_organization
     WHERE organization_id = ?1 AND created_at >= (SELECT at FROM begun) ORDER BY created_at ${direction} LIMIT ${maxScannedRows})`;

/**
 * The organization's open events behind the cursor of the minute tick, up to which all are handled: the oldest and the newest 5,000 of its own
 * events since then are looked at. An organization's events are handled in their order, so those that wait are at one of these ends.
 */
const openEventsSql = `WITH cursor AS (SELECT coalesce((SELECT value FROM progress WHERE name = 'events_handled'), 0) AS id),
  begun AS (SELECT min(created_at) - ${clockToleranceMs} AS at FROM (
    SELECT created_at FROM event WHERE id > (SELECT id FROM cursor) ORDER BY id LIMIT 100)),
  looked_at AS MATERIALIZED (${firstSql('ASC')} UNION ${firstSql('DESC')}),
  open AS (SELECT id, created_at FROM looked_at WHERE handled_at IS NULL AND id > (SELECT id FROM cursor))`;

export const eventBacklog = (database: Database, organizationId: number): Statement<Backlog> =>
  database.prepare<Backlog>(
    `${openEventsSql} SELECT (SELECT count(*) FROM open) AS waiting, (SELECT min(created_at) FROM open) AS oldest_at,
       (SELECT count(*) FROM looked_at) >= ${2 * maxScannedRows} AS is_partial`,
    organizationId,
  );

/** The oldest open events, among those that the backlog counts. */
export const waitingEvents = (database: Database, organizationId: number, limit: number): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(`${openEventsSql} SELECT id FROM open ORDER BY id LIMIT ?2`, organizationId, limit);
