import type { z } from '@hono/zod-openapi';
import { maskSecrets } from '../../automation-workflows/secrets.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { AgentRecord } from '../schemas.ts';
import type { AgentWithDefinition } from './agent-store.ts';
import { cutWarnings, type Warning } from '../../library/config-object.ts';
import { definitionWarnings } from '../definition/warnings.ts';
import { configurationsOf, configurationWarnings } from './configurations.ts';

export const agentRecord = (row: AgentWithDefinition): z.infer<typeof AgentRecord> => ({
  id: row.id,
  name: row.name,
  status: row.status,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
  workflow_definition: maskSecrets(row.workflow_definition),
  current_definition_id: row.current_definition_id,
  template_context_variables: row.template_context_variables,
  call_disposition_codes: row.call_disposition_codes,
  total_runs: row.total_runs,
  workflow_configurations: configurationsOf(row.workflow_configurations),
  warnings: agentWarnings(row),
});

const agentWarnings = ({ workflow_definition, workflow_configurations }: AgentWithDefinition): Warning[] =>
  cutWarnings([...definitionWarnings(workflow_definition), ...configurationWarnings(workflow_configurations)], ['body']);
