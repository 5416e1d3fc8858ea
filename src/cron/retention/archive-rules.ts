import { sessionTranscriptKey } from '../../simtest/sessions/rpc.ts';
import { artifactKey, artifactNames } from '../../calls/records/artifacts.ts';
import { archiveCampaigns } from './archive-campaigns.ts';
import { archiveRows } from './archive-rows.ts';
import type { RetentionRule } from './rule.ts';

/** A row that started runs is kept as long as one of its runs is, because the run's context is stored with the row. */
const isUnusedSql = (kind: string) => `old.handled_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM automation_run r WHERE r.organization_id = old.organization_id
    AND r.dedup_key >= '${kind}:' || old.id || ':' AND r.dedup_key < '${kind}:' || old.id || ';')`;

/** Tables whose finished rows go into the archive. */
export const archiveRules: RetentionRule[] = [
  archiveCampaigns,
  archiveRows({
    table: 'automation_run',
    setting: 'RETENTION_DAYS',
    isDone: 'old.completed_at IS NOT NULL',
    length: 'coalesce(length(initial_context), 0) + coalesce(length(context_changes), 0) + coalesce(length(history), 0)',
    hasContact: true,
    counters: (database, json, gone) =>
      database.prepare(
        `UPDATE automation_workflow SET runs_count = runs_count - gone.runs
         FROM (SELECT old.workflow_id, count(*) AS runs FROM ${gone} AND old.is_test = 0 GROUP BY old.workflow_id) gone
         WHERE automation_workflow.id = gone.workflow_id`,
        json,
      ),
  }),
  archiveRows({
    table: 'event',
    setting: 'RETENTION_DAYS',
    isDone: isUnusedSql('event'),
    length: 'length(data)',
    hasContact: true,
    counters: (database, json, gone) =>
      database.prepare(
        `UPDATE organization_usage SET events_count = events_count - gone.events
         FROM (SELECT old.organization_id, count(*) AS events FROM ${gone} GROUP BY old.organization_id) gone
         WHERE organization_usage.organization_id = gone.organization_id`,
        json,
      ),
  }),
  archiveRows({
    table: 'webhook_delivery',
    setting: 'RETENTION_DAYS',
    isDone: isUnusedSql('delivery'),
    length: 'length(payload)',
    hasContact: true,
  }),
  archiveRows({ table: 'message', setting: 'RETENTION_DAYS', isDone: 'true', length: 'length(history) + 500', hasContact: true }),
  archiveRows({
    table: 'voice_agent_run',
    setting: 'CALL_RETENTION_DAYS',
    isDone: 'old.is_completed = 1',
    length: 'length(initial_context) + coalesce(length(result), 0)',
    hasContact: true,
    filesOf: (run) => artifactNames.map((name) => artifactKey(run.organization_id, run.id, name)),
    counters: (database, json, gone) =>
      database.prepare(
        `UPDATE voice_agent SET total_runs = total_runs - gone.runs
         FROM (SELECT old.agent_id, count(*) AS runs FROM ${gone} GROUP BY old.agent_id) gone WHERE voice_agent.id = gone.agent_id`,
        json,
      ),
  }),
  archiveRows({
    table: 'test_session',
    setting: 'TEST_RETENTION_DAYS',
    isDone: `old.status NOT IN ('pending', 'running')
      AND NOT EXISTS (SELECT 1 FROM load_test l WHERE l.id = old.load_test_id AND l.status = 'running')`,
    length: 'coalesce(length(results), 0) + coalesce(length(candidate), 0) + coalesce(length(config), 0)',
    hasContact: false,
    filesOf: (session) => [sessionTranscriptKey(session.organization_id, session.id)],
  }),
  archiveRows({
    table: 'load_test',
    setting: 'TEST_RETENTION_DAYS',
    // The config of its sessions is its own.
    isDone: `old.status <> 'running' AND NOT EXISTS (SELECT 1 FROM test_session s WHERE s.load_test_id = old.id)`,
    length: 'length(config) + coalesce(length(statistics), 0)',
    hasContact: false,
  }),
];
