import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { maskSecrets } from '../../expressions/secrets/secrets.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import type { AgentRecord, ListedAgent } from './schemas.ts';
import type { AgentWithDefinition } from './store.ts';
import { limitWarnings, type Warning } from '../../library/json/config-object.ts';
import { findDefinitionWarnings } from '../definition/warnings.ts';
import { findConfigurationWarnings, parseConfigurations } from './configurations.ts';
import { findStoredIssues } from './prepare-definition.ts';

/** An agent as lists show it, without the issues of its definition, which would take too long for many agents. */
export const toListedAgent = (row: AgentWithDefinition): z.infer<typeof ListedAgent> => ({
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
  workflow_configurations: parseConfigurations(row.workflow_configurations),
});

export const toAgentRecord = async (context: Context, row: AgentWithDefinition): Promise<z.infer<typeof AgentRecord>> => ({
  ...toListedAgent(row),
  issues: await findStoredIssues(context, row.workflow_definition),
  warnings: findAgentWarnings(row),
});

const findAgentWarnings = ({ workflow_definition, workflow_configurations }: AgentWithDefinition): Warning[] =>
  limitWarnings([...findDefinitionWarnings(workflow_definition), ...findConfigurationWarnings(workflow_configurations)], ['body']);
