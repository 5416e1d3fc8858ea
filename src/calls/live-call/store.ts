import type { Database } from '../../database/client.ts';
import type { AgentRunRow } from '../records/store.ts';

/** A run with what its agent talks by. Objects are JSON text. */
export interface CallSetupRow extends Omit<AgentRunRow, 'is_completed' | 'result'> {
  is_completed: number;
  agent_name: string;
  template_context_variables: string;
  call_disposition_codes: string;
  workflow_configurations: string;
  definition: string;
}

export const findCallSetupRow = (database: Database, organizationId: number, runId: number): Promise<CallSetupRow | null> =>
  database.first<CallSetupRow>(
    database.prepare(
      `SELECT r.*, a.name AS agent_name, a.template_context_variables, a.call_disposition_codes, a.workflow_configurations, d.definition
       FROM voice_agent_run r CROSS JOIN voice_agent a CROSS JOIN voice_agent_definition d
       WHERE r.id = ? AND r.organization_id = ? AND a.id = r.agent_id AND d.id = r.definition_id`,
      runId,
      organizationId,
    ),
  );
