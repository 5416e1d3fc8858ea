import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { maskSecrets } from '../../automation-workflows/secrets.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { AgentRecord, ListedAgent } from '../schemas.ts';
import type { AgentWithDefinition } from './agent-store.ts';
import { cutWarnings, type Warning } from '../../library/config-object.ts';
import { definitionWarnings } from '../definition/warnings.ts';
import { configurationsOf, configurationWarnings } from './configurations.ts';
import { storedIssues } from './prepare-definition.ts';

/** An agent as lists show it. Whether its definition is sound is not asked there: of many agents that takes too long. */
export const listedAgent = (row: AgentWithDefinition): z.infer<typeof ListedAgent> => ({
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
});

export const agentRecord = async (context: Context, row: AgentWithDefinition): Promise<z.infer<typeof AgentRecord>> => ({
  ...listedAgent(row),
  issues: await storedIssues(context, row.workflow_definition),
  warnings: agentWarnings(row),
});

const agentWarnings = ({ workflow_definition, workflow_configurations }: AgentWithDefinition): Warning[] =>
  cutWarnings([...definitionWarnings(workflow_definition), ...configurationWarnings(workflow_configurations)], ['body']);
