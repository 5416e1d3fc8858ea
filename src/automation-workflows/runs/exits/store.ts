import type { Database, Statement } from '../../../database/client.ts';

/** Replaces the event types that end a workflow's runs. `workflowId` null: the workflow that the batch has just inserted. */
export const exitTopicStatements = (
  database: Database,
  organizationId: number,
  workflowId: number | null,
  { before, after }: { before: string[]; after: string[] },
): Statement[] => {
  const statements: Statement[] = [];
  if (before.length)
    statements.push(
      database.prepare(
        'DELETE FROM exit_topic WHERE organization_id = ? AND event_type IN (SELECT value FROM json_each(?)) AND workflow_id = ?',
        organizationId,
        JSON.stringify(before),
        workflowId,
      ),
    );
  if (after.length)
    statements.push(
      database.prepare(
        `INSERT OR IGNORE INTO exit_topic (organization_id, event_type, workflow_id)
         SELECT ?1, j.value, coalesce(?2, (SELECT max(id) FROM automation_workflow)) FROM json_each(?3) j`,
        organizationId,
        workflowId,
        JSON.stringify(after),
      ),
    );
  return statements;
};

/** The runs that an event ends: those of a contact, or those with an entry key. */
export interface ExitTarget {
  event_id: number;
  /** Epoch ms at which the event was accepted. */
  event_at: number;
  workflow_id: number;
  contact_id: number | null;
  entry_key: string | null;
}

/**
 * An event does not end a run that started after it, or from it. Ids give the exact order of events; for deliveries and requests only the
 * moments can be compared.
 */
const startedBeforeSql = `CASE r.source WHEN 'event' THEN r.source_id < j.value ->> 'event_id'
  WHEN 'delivery' THEN (SELECT created_at FROM webhook_delivery WHERE id = r.source_id) <= j.value ->> 'event_at'
  ELSE r.created_at <= j.value ->> 'event_at' END`;

/** A page of the runs that events end, ordered by id after `afterId`, each with the first event that ends it. */
export async function findRunsToExit(
  database: Database,
  organizationId: number,
  targets: ExitTarget[],
  afterId: number,
  limit: number,
): Promise<{ id: number; event_id: number }[]> {
  return database.all(
    database.prepare<{ id: number; event_id: number }>(
      `SELECT r.id, min(j.value ->> 'event_id') AS event_id FROM json_each(?1) j CROSS JOIN automation_run r INDEXED BY automation_run_exit_contact
       WHERE j.value ->> 'contact_id' IS NOT NULL AND r.contact_id = j.value ->> 'contact_id' AND r.workflow_id = j.value ->> 'workflow_id'
         AND r.is_exitable = 1 AND r.organization_id = ?2 AND r.id > ?3 AND ${startedBeforeSql} GROUP BY r.id
       UNION
       SELECT r.id, min(j.value ->> 'event_id') FROM json_each(?1) j CROSS JOIN automation_run r INDEXED BY automation_run_exit_key
       WHERE j.value ->> 'entry_key' IS NOT NULL AND r.workflow_id = j.value ->> 'workflow_id' AND r.entry_key = j.value ->> 'entry_key'
         AND r.is_exitable = 1 AND r.organization_id = ?2 AND r.id > ?3 AND ${startedBeforeSql} GROUP BY r.id
       ORDER BY 1 LIMIT ?4`,
      JSON.stringify(targets),
      organizationId,
      afterId,
      limit,
    ),
  );
}
