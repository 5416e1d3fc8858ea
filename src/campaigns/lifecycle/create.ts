import type { Context } from '../../context.ts';
import { requirePayloadSize } from '../../database/payload.ts';
import { existingAgent } from '../../voice-agents/agents/find-agents.ts';
import { requireVersion } from '../../voice-agents/versions/find-version.ts';
import { applyConfigChange } from '../configs/apply-config-change.ts';
import type { NewCampaignInput } from '../schemas.ts';
import type { SourceOptions } from '../source/options.ts';
import { checkSource } from '../source/check-source.ts';
import { type CampaignRow, insertCampaign } from '../store.ts';

/** Includes the unknown keys. */
const maxOptionsBytes = 16 * 1024;

/** Creates a draft. Throws 404 for an unknown agent, version or source, 422 for a source without rows that can be called, 400 over a limit. */
export async function createCampaign(context: Context, input: NewCampaignInput): Promise<CampaignRow> {
  const configs = applyConfigChange(null, input, context.organization);
  const agent = await existingAgent(context, input.workflow_id);
  const definition_id = input.definition_id ?? null;
  if (definition_id !== null) await requireVersion(context, agent.id, definition_id);
  const { totalRows } = await checkSource(context, input);
  const { name, source_type, source_id, source_options } = input;
  const campaign = {
    name,
    agent_id: agent.id,
    definition_id,
    source_type,
    source_id,
    source_options: validateSourceOptions(source_options ?? {}),
    total_rows: totalRows,
    ...configs,
  };
  return insertCampaign(context.database, context.organization.id, campaign, context.clock());
}

/** Drops `redial`, which the service alone writes into the stored options. */
function validateSourceOptions(options: SourceOptions): SourceOptions {
  requirePayloadSize(JSON.stringify(options), maxOptionsBytes, ['body', 'source_options']);
  return Object.fromEntries(Object.entries(options).filter(([key]) => key !== 'redial'));
}
