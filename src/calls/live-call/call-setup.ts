import type { Context } from '../../context.ts';
import { resolvePayload } from '../../database/payload.ts';
import { parsePinnedModels, pinnedModelsSql, type PinnedModel } from '../../language-models/pinned-models.ts';
import { versionSettingsSql } from '../../voice-agents/agents/version-content.ts';
import { readDispositionCodes } from '../../voice-agents/conversation/conclude.ts';
import type { AgentRunRow } from '../records/store.ts';
import type { Database } from '../../database/client.ts';

/** Everything that a conversation and its end need, fixed at its start. Nothing else is read from D1 for it. */
export interface CallSetup {
  runId: number;
  organizationId: number;
  agentId: number;
  agentName: string;
  mode: AgentRunRow['mode'];
  /** The name of the attempt in the organization's call slots. */
  attemptKey: string;
  /** The other side's number, E.164. */
  phone: string | null;
  ownNumber: string | null;
  contactId: number | null;
  campaignId: number | null;
  automationRunId: number | null;
  organization: { timezone: string; default_country: string };
  dispositionCodes: Record<string, string>;
  /** The language models of the organization, with sealed keys. Undefined in a call that began under an earlier version. */
  languageModels?: PinnedModel[];
  /** `workflow_configurations` as stored. */
  configurations: unknown;
  /** As stored, with sealed secrets. */
  definition: Record<string, unknown>;
  initialContext: Record<string, unknown>;
  /** Whether HTTP tools are called. If not, they answer that they were not called. */
  hasLiveTools: boolean;
}

/**
 * Loads the setup of a run, with its initial context laid over the default variables of its agent. Null: there is no such run. One D1 call,
 * and an R2 read for a large context.
 */
export async function loadCallSetup(context: Context, runId: number): Promise<{ facts: CallSetup; isCompleted: boolean } | null> {
  const { organization, database, bindings } = context;
  const row = await findCallSetupRow(database, organization.id, runId);
  if (!row) return null;
  const own = await resolvePayload<Record<string, unknown>>(bindings.FILES, row.initial_context);
  const setup: CallSetup = {
    runId,
    organizationId: organization.id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    mode: row.mode,
    attemptKey: row.attempt_key,
    phone: row.phone,
    ownNumber: row.own_number,
    contactId: row.contact_id,
    campaignId: row.campaign_id,
    automationRunId: row.automation_run_id,
    organization: { timezone: organization.timezone, default_country: organization.defaultCountry },
    dispositionCodes: readDispositionCodes(JSON.parse(row.call_disposition_codes)),
    languageModels: parsePinnedModels(row.language_models),
    configurations: JSON.parse(row.workflow_configurations),
    definition: JSON.parse(row.definition) as Record<string, unknown>,
    initialContext: { ...(JSON.parse(row.template_context_variables) as Record<string, unknown>), ...own },
    hasLiveTools: row.mode !== 'textchat',
  };
  return { facts: setup, isCompleted: Boolean(row.is_completed) };
}

/** A run with the version of its agent by which it talks. Objects are JSON text. */
interface CallSetupRow extends Omit<AgentRunRow, 'is_completed' | 'result'> {
  is_completed: number;
  agent_name: string;
  template_context_variables: string;
  call_disposition_codes: string;
  workflow_configurations: string;
  definition: string;
  language_models: string;
}

const findCallSetupRow = (database: Database, organizationId: number, runId: number): Promise<CallSetupRow | null> =>
  database.first(
    database.prepare<CallSetupRow>(
      `SELECT r.*, a.name AS agent_name, ${versionSettingsSql}, d.definition,
         ${pinnedModelsSql('r.organization_id')} AS language_models
       FROM voice_agent_run r CROSS JOIN voice_agent a CROSS JOIN voice_agent_definition d
       WHERE r.id = ? AND r.organization_id = ? AND a.id = r.agent_id AND d.id = r.definition_id`,
      runId,
      organizationId,
    ),
  );
