import type { Database, Statement } from '../database/client.ts';
import { newestRows, type IndexedRows } from '../database/newest-rows.ts';
import { givenUpPrefix } from '../outbox/failed-messages.ts';
import type { Place, StoredKind, StuckRow } from './kinds.ts';

interface Source {
  /** The columns of `StuckRow` that are not null, by name. */
  columns: Partial<Record<keyof StuckRow, string>>;
  /** The rows `r` of the organization `?1`, which go along one index in this order. */
  from: string;
  /** By id alone, or by the moment `at` first. */
  order: 'id' | 'moment';
}

const isGivenUp = `substr(r.note, 1, ${givenUpPrefix.length}) = '${givenUpPrefix}'`;

/** Failed runs lie in one stretch of an index for each journey (`newestRows`), so their rows are selected apart. */
const sources: Record<StoredKind, Source> = {
  event: {
    columns: { at: 'r.handled_at', state: "'given_up'", name: 'r.event_type', why: 'r.note' },
    from: `event r INDEXED BY event_given_up WHERE r.organization_id = ?1 AND ${isGivenUp}`,
    order: 'id',
  },
  delivery: {
    columns: {
      at: 'r.handled_at',
      state: "'given_up'",
      name: '(SELECT t.name FROM automation_trigger t WHERE t.id = r.trigger_id)',
      why: 'r.note',
      workflow_id: '(SELECT t.workflow_id FROM automation_trigger t WHERE t.id = r.trigger_id)',
    },
    from: `webhook_delivery r INDEXED BY webhook_delivery_given_up WHERE r.organization_id = ?1 AND ${isGivenUp}`,
    order: 'id',
  },
  schedule_fire: {
    columns: {
      key: "r.trigger_id || ':' || r.scheduled_at",
      id: 'r.trigger_id',
      at: 'r.created_at',
      state: "'given_up'",
      name: '(SELECT t.name FROM automation_trigger t WHERE t.id = r.trigger_id)',
      why: 'r.note',
      workflow_id: '(SELECT t.workflow_id FROM automation_trigger t WHERE t.id = r.trigger_id)',
    },
    from: `schedule_fire r INDEXED BY schedule_fire_given_up WHERE r.organization_id = ?1 AND ${isGivenUp}`,
    order: 'moment',
  },
  cleanup: {
    columns: { at: 'r.created_at', state: "'given_up'", name: 'r.kind', why: 'r.note' },
    from: 'cleanup r INDEXED BY cleanup_stuck WHERE r.organization_id = ?1 AND r.note IS NOT NULL',
    order: 'id',
  },
  retrying: {
    columns: {
      key: 'r.key',
      id: 'r.rowid',
      at: 'r.first_failed_at',
      state: "'retrying'",
      name: "r.message ->> 'kind'",
      why: 'r.reason',
      tries: 'r.tries',
      next_try_at: 'r.next_try_at',
    },
    // A record that a person has sent again has neither tries nor a reason.
    from: 'failed_message r INDEXED BY failed_message_organization WHERE r.organization_id = ?1 AND (r.tries > 0 OR r.reason IS NOT NULL)',
    order: 'moment',
  },
  run: {
    columns: {
      at: 'r.completed_at',
      state: "'failed'",
      name: '(SELECT w.name FROM automation_workflow w WHERE w.id = r.workflow_id)',
      why: "iif(json_valid(r.error), r.error ->> '$.message', r.error)",
      workflow_id: 'r.workflow_id',
    },
    from: '',
    order: 'id',
  },
  journey: {
    columns: {
      at: 'coalesce(r.updated_at, r.created_at)',
      state: "iif(r.status = 'paused', 'paused', 'held')",
      name: 'r.name',
      why: `iif(r.status = 'paused', 'The journey is paused, and ' || r.active_runs_count || ' of its runs live: their next side effect waits',
        r.held_runs_count || ' of its runs wait for their turn: settings.max_active_runs allows ' || (r.settings ->> 'max_active_runs') || ' at once')`,
      workflow_id: 'r.id',
    },
    from: `automation_workflow r INDEXED BY automation_workflow_organization WHERE r.organization_id = ?1 AND r.status IN ('active', 'paused')
      AND (r.held_runs_count > 0 OR (r.status = 'paused' AND r.active_runs_count > 0))`,
    order: 'id',
  },
  trigger: {
    columns: { at: 'r.updated_at', state: "'failing'", name: 'r.name', why: 'r.last_error', workflow_id: 'r.workflow_id' },
    from: "automation_trigger r INDEXED BY automation_trigger_failing WHERE r.organization_id = ?1 AND r.last_error IS NOT NULL AND r.state <> 'archived'",
    order: 'id',
  },
  campaign: {
    columns: { at: 'coalesce(r.completed_at, r.started_at, r.created_at)', state: 'r.state', name: 'r.name', why: 'r.state_reason' },
    from: `campaign r INDEXED BY campaign_blocked WHERE r.organization_id = ?1 AND r.is_kept = 1
      AND (r.state = 'failed' OR (r.state_reason IS NOT NULL AND r.state IN ('syncing', 'running', 'paused')))`,
    order: 'id',
  },
  document: {
    columns: { key: 'r.uuid', at: 'r.updated_at', state: "'failed'", name: 'r.filename', why: 'r.error' },
    from: "knowledge_document r INDEXED BY knowledge_document_failed WHERE r.organization_id = ?1 AND r.status = 'failed' AND r.is_active = 1",
    order: 'id',
  },
  integration: {
    columns: {
      at: 'r.updated_at',
      state: "iif(r.is_active = 1, 'failing', 'disconnected')",
      name: 'r.provider',
      why: 'r.last_error',
      next_try_at: 'r.next_sync_at',
    },
    from: 'integration r INDEXED BY integration_current WHERE r.organization_id = ?1 AND r.disconnected_at IS NULL AND r.last_error IS NOT NULL',
    order: 'id',
  },
  webhook_endpoint: {
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
  },
};

export const storedKinds = Object.keys(sources) as StoredKind[];

const columnNames = ['key', 'id', 'at', 'state', 'name', 'why', 'tries', 'next_try_at', 'workflow_id'] as const;
const defaults: Partial<Record<keyof StuckRow, string>> = { key: 'CAST(r.id AS TEXT)', id: 'r.id' };

const failedRuns = (organizationId: number): IndexedRows => ({
  table: 'automation_run',
  index: 'automation_run_workflow_state',
  lanes: { sql: 'SELECT id AS workflow_id FROM automation_workflow WHERE organization_id = ?', parameters: [organizationId] },
  where: {
    sql: "r.organization_id = ? AND r.is_test = 0 AND r.workflow_id = lane.workflow_id AND r.state = 'failed' AND r.state <> 'completed'",
    parameters: [organizationId],
  },
});

/** At most `limit` rows of one kind behind a place, in the order of the kind, newest first. */
export function selectStuckRows(
  database: Database,
  organizationId: number,
  kind: StoredKind,
  { behind, limit }: { behind: Place | undefined; limit: number },
): Statement<StuckRow> {
  const { columns, from, order } = sources[kind];
  const expressionOf = (name: keyof StuckRow) => columns[name] ?? defaults[name] ?? 'NULL';
  const shown = columnNames.map((name) => `${expressionOf(name)} AS ${name}`).join(', ');
  if (kind === 'run') {
    const ids = newestRows(failedRuns(organizationId), { limit, offset: 0, after: behind?.id });
    const sql = `SELECT ${shown} FROM (${ids.sql}) page CROSS JOIN automation_run r WHERE r.id = page.id ORDER BY page.id DESC`;
    return database.prepare<StuckRow>(sql, ...ids.parameters);
  }
  const [id, at] = [expressionOf('id'), expressionOf('at')];
  const [isBehind, sorted] =
    order === 'id' ? [`${id} < ?3 AND ?2 = ?2`, `${id} DESC`] : [`(${at} < ?2 OR (${at} = ?2 AND ${id} < ?3))`, `${at} DESC, ${id} DESC`];
  return database.prepare<StuckRow>(
    `SELECT ${shown} FROM ${from} AND ${isBehind} ORDER BY ${sorted} LIMIT ?4`,
    organizationId,
    behind?.at ?? Number.MAX_SAFE_INTEGER,
    behind?.id ?? Number.MAX_SAFE_INTEGER,
    limit,
  );
}

/** How many rows of a queue one request looks at. */
const maxScannedRows = 5000;

/** The records of a queue that are not handled yet. `oldest_at` in epoch ms; null: none. */
export interface Backlog {
  waiting: number;
  oldest_at: number | null;
  /** More rows were not looked at. */
  is_partial: number;
}

/** Accepted records that are not handled, among the 5,000 rows after the cursor of the minute tick. */
const acceptedBacklog = (
  database: Database,
  organizationId: number,
  table: 'event' | 'webhook_delivery',
  cursor: string,
): Statement<Backlog> =>
  database.prepare<Backlog>(
    `SELECT sum(organization_id = ?1 AND handled_at IS NULL) AS waiting, min(iif(organization_id = ?1 AND handled_at IS NULL, created_at, NULL)) AS oldest_at,
       count(*) = ${maxScannedRows} AS is_partial
     FROM (SELECT organization_id, handled_at, created_at FROM ${table}
       WHERE id > coalesce((SELECT value FROM progress WHERE name = ?2), 0) ORDER BY id LIMIT ${maxScannedRows})`,
    organizationId,
    cursor,
  );

export const eventBacklog = (database: Database, organizationId: number): Statement<Backlog> =>
  acceptedBacklog(database, organizationId, 'event', 'events_handled');

export const deliveryBacklog = (database: Database, organizationId: number): Statement<Backlog> =>
  acceptedBacklog(database, organizationId, 'webhook_delivery', 'deliveries_handled');

export const contactChangeBacklog = (database: Database, organizationId: number): Statement<Backlog> =>
  database.prepare<Backlog>(
    `SELECT count(*) AS waiting, min(created_at) AS oldest_at, count(*) = ${maxScannedRows} AS is_partial
     FROM (SELECT created_at FROM contact_change WHERE organization_id = ?1 ORDER BY id LIMIT ${maxScannedRows})`,
    organizationId,
  );

/** Documents whose next step is due. */
export const documentBacklog = (database: Database, organizationId: number, now: number): Statement<Backlog> =>
  database.prepare<Backlog>(
    `SELECT sum(organization_id = ?1) AS waiting, min(iif(organization_id = ?1, due_at, NULL)) AS oldest_at, count(*) = ${maxScannedRows} AS is_partial
     FROM (SELECT organization_id, due_at FROM knowledge_document WHERE due_at IS NOT NULL AND due_at < ?2 ORDER BY due_at LIMIT ${maxScannedRows})`,
    organizationId,
    now,
  );

/** The oldest accepted records that are not handled, among those that the backlog counts. */
export const waitingRecords = (
  database: Database,
  organizationId: number,
  table: 'event' | 'webhook_delivery',
  { cursor, limit }: { cursor: string; limit: number },
): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(
    `SELECT id FROM (SELECT id, organization_id, handled_at FROM ${table}
       WHERE id > coalesce((SELECT value FROM progress WHERE name = ?2), 0) ORDER BY id LIMIT ${maxScannedRows})
     WHERE organization_id = ?1 AND handled_at IS NULL LIMIT ?3`,
    organizationId,
    cursor,
    limit,
  );

/** Documents of the organization whose next step is due, the longest due first, among those that the backlog counts. */
export const waitingDocuments = (
  database: Database,
  organizationId: number,
  { now, limit }: { now: number; limit: number },
): Statement<{ id: number; organization_id: number; next_generation: number; size_bytes: number }> =>
  database.prepare<{ id: number; organization_id: number; next_generation: number; size_bytes: number }>(
    `SELECT id, organization_id, next_generation, size_bytes FROM (SELECT id, organization_id, next_generation, size_bytes, due_at
       FROM knowledge_document WHERE due_at IS NOT NULL AND due_at < ?2 ORDER BY due_at LIMIT ${maxScannedRows})
     WHERE organization_id = ?1 ORDER BY due_at LIMIT ?3`,
    organizationId,
    now,
    limit,
  );

/** The organization's contacts, as they are counted against the plan. */
export const contactCount = (database: Database, organizationId: number): Statement<{ contacts_count: number }> =>
  database.prepare<{ contacts_count: number }>('SELECT contacts_count FROM organization_usage WHERE organization_id = ?', organizationId);

/** Has a failed record tried again at the next chance, and answers its message. No row: it has been handled. */
export const retryFailureStatement = (
  database: Database,
  organizationId: number,
  key: string,
  now: number,
): Statement<{ message: string }> =>
  database.prepare<{ message: string }>(
    'UPDATE failed_message SET next_try_at = ?3 WHERE key = ?1 AND organization_id = ?2 RETURNING message',
    key,
    organizationId,
    now,
  );

/** Opens a firing that was given up, at the page where it stood. */
export const reopenFireStatement = (
  database: Database,
  organizationId: number,
  { triggerId, scheduledAt }: { triggerId: number; scheduledAt: number },
): Statement<{ scheduled_at: number }> =>
  database.prepare<{ scheduled_at: number }>(
    `UPDATE schedule_fire SET handled_at = NULL, note = NULL WHERE trigger_id = ?1 AND scheduled_at = ?2 AND organization_id = ?3
       AND substr(note, 1, ${givenUpPrefix.length}) = '${givenUpPrefix}' RETURNING scheduled_at`,
    triggerId,
    scheduledAt,
    organizationId,
  );

/** Opens a cleanup that was given up. */
export const reopenCleanupStatement = (database: Database, organizationId: number, id: number): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(
    'UPDATE cleanup SET note = NULL WHERE id = ?1 AND organization_id = ?2 AND note IS NOT NULL RETURNING id',
    id,
    organizationId,
  );

/** The trigger and journey of a delivery. */
export const deliveryOwnerStatement = (
  database: Database,
  organizationId: number,
  id: number,
): Statement<{ trigger_id: number; workflow_id: number }> =>
  database.prepare<{ trigger_id: number; workflow_id: number }>(
    `SELECT d.trigger_id, t.workflow_id FROM webhook_delivery d CROSS JOIN automation_trigger t
     WHERE d.id = ? AND d.organization_id = ? AND t.id = d.trigger_id`,
    id,
    organizationId,
  );

/** The state of a journey with its held runs. */
export const journeyHoldStatement = (
  database: Database,
  organizationId: number,
  id: number,
): Statement<{ status: string; held_runs_count: number }> =>
  database.prepare<{ status: string; held_runs_count: number }>(
    'SELECT status, held_runs_count FROM automation_workflow WHERE id = ? AND organization_id = ?',
    id,
    organizationId,
  );
