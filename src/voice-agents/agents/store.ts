import { and, eq, sql } from 'drizzle-orm';
import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Statement } from '../../database/client.ts';
import { voiceAgent, voiceAgentDefinition } from '../../database/schema/index.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { FirstAttempt } from '../../database/write-receipts.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import { nextTimestamp, compareAndSet } from '../../database/compare-and-set.ts';
import { haveSettingsChanged, toVersionSettings, type VersionSettings } from './version-content.ts';

type JsonObject = Record<string, unknown>;
type StoredAgent = StoredRow<typeof voiceAgent>;
type StoredAgentWithDefinition = StoredAgent & Pick<StoredRow<typeof voiceAgentDefinition>, 'definition'>;

export type AgentStatus = typeof voiceAgent.$inferSelect.status;

/** A voice agent without its definition. Moments in epoch ms. */
export interface AgentRow extends Omit<
  StoredAgent,
  'status' | 'template_context_variables' | 'call_disposition_codes' | 'workflow_configurations'
> {
  status: AgentStatus;
  template_context_variables: JsonObject;
  call_disposition_codes: JsonObject;
  workflow_configurations: JsonObject;
}

/** A voice agent with its current definition, whose secrets are sealed. */
export interface AgentWithDefinition extends AgentRow {
  workflow_definition: JsonObject;
}

const parseObject = (text: string): JsonObject => JSON.parse(text) as JsonObject;

const toAgentRow = (row: StoredAgent): AgentRow => ({
  ...row,
  status: row.status as AgentStatus,
  template_context_variables: parseObject(row.template_context_variables),
  call_disposition_codes: parseObject(row.call_disposition_codes),
  workflow_configurations: parseObject(row.workflow_configurations),
});

const toAgentWithDefinition = ({ definition, ...row }: StoredAgentWithDefinition): AgentWithDefinition => ({
  ...toAgentRow(row),
  workflow_definition: parseObject(definition),
});

const selectAgent = (database: Database, organizationId: number, id: number): Statement<StoredAgent> =>
  database.from<StoredAgent>(
    database.orm
      .select()
      .from(voiceAgent)
      .where(and(eq(voiceAgent.id, id), eq(voiceAgent.organizationId, organizationId))),
  );

export async function findAgent(database: Database, organizationId: number, id: number): Promise<AgentRow | null> {
  const row = await database.first(selectAgent(database, organizationId, id));
  return row && toAgentRow(row);
}

export async function findAgentWithDefinition(database: Database, organizationId: number, id: number): Promise<AgentWithDefinition | null> {
  const row = await database.first(
    database.prepare<StoredAgentWithDefinition>(
      `SELECT a.*, d.definition FROM voice_agent a CROSS JOIN voice_agent_definition d
       WHERE a.id = ? AND a.organization_id = ? AND d.id = a.current_definition_id AND d.organization_id = a.organization_id`,
      id,
      organizationId,
    ),
  );
  return row && toAgentWithDefinition(row);
}

export async function findAgentsWithDefinition(database: Database, organizationId: number, ids: number[]): Promise<AgentWithDefinition[]> {
  const rows = await database.all(
    database.prepare<StoredAgentWithDefinition>(
      `SELECT a.*, d.definition FROM json_each(?) j CROSS JOIN voice_agent a CROSS JOIN voice_agent_definition d
       WHERE a.id = j.value AND a.organization_id = ? AND d.id = a.current_definition_id AND d.organization_id = a.organization_id`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
  return rows.map(toAgentWithDefinition);
}

/** The fields of an agent in a request. */
export interface NewAgent {
  name: string;
  workflow_definition: JsonObject;
  template_context_variables?: JsonObject | null | undefined;
  workflow_configurations?: JsonObject | null | undefined;
  call_disposition_codes?: Record<string, string> | null | undefined;
}

/** The columns that a request may change; all but the name are JSON text. */
export interface AgentFields {
  name: string;
  /** With sealed secrets. */
  definition: string;
  template_context_variables: string;
  call_disposition_codes: string;
  workflow_configurations: string;
}

export async function insertAgent(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  fields: AgentFields,
  now: number,
): Promise<AgentWithDefinition> {
  const statements = [
    database.prepare(
      `INSERT INTO voice_agent (organization_id, name, status, current_definition_id, template_context_variables, call_disposition_codes,
         workflow_configurations, created_at, updated_at) VALUES (?1, ?2, 'active', 0, ?3, ?4, ?5, ?6, ?6)`,
      organization.id,
      fields.name,
      fields.template_context_variables,
      fields.call_disposition_codes,
      fields.workflow_configurations,
      now,
    ),
    requireWithinLimit(database, organization, 'max_voice_agents'),
    database.prepare(
      `INSERT INTO voice_agent_definition (organization_id, agent_id, definition, template_context_variables, call_disposition_codes,
         workflow_configurations, created_at) VALUES (?, last_insert_rowid(), ?, ?, ?, ?, ?)`,
      organization.id,
      fields.definition,
      ...settingsParameters(parseSettings(fields)),
      now,
    ),
    database.prepare<StoredAgent>(
      `UPDATE voice_agent SET current_definition_id = last_insert_rowid()
       WHERE id = (SELECT agent_id FROM voice_agent_definition WHERE id = last_insert_rowid()) AND organization_id = ? RETURNING *`,
      organization.id,
    ),
  ] as const;
  const readBack = async ({ rowId }: FirstAttempt) => [
    [],
    [],
    [],
    ...(await database.batch([selectAgent(database, organization.id, rowId)])),
  ];
  const [, , , rows] = await database.batchOnce(statements, readBack, 2);
  return toAgentWithDefinition({ ...rows[0]!, definition: fields.definition });
}

const parseSettings = (fields: Pick<AgentFields, keyof VersionSettings>): VersionSettings => ({
  template_context_variables: parseObject(fields.template_context_variables),
  call_disposition_codes: parseObject(fields.call_disposition_codes),
  workflow_configurations: parseObject(fields.workflow_configurations),
});

/** The settings of a version, as JSON text in the order of the columns. */
function settingsParameters(settings: VersionSettings): string[] {
  const held = toVersionSettings(settings);
  return [held.template_context_variables, held.call_disposition_codes, held.workflow_configurations].map((value) => JSON.stringify(value));
}

/**
 * Changes an agent unless it has changed since `before` was read; null: it has, and nothing is written. A changed definition or changed settings
 * become a new version, with the version that it takes up again, if any.
 */
export async function updateAgent(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  before: AgentWithDefinition,
  change: Partial<AgentFields> & { status?: AgentStatus | undefined; restored_from?: number | undefined },
  clock: number,
): Promise<AgentWithDefinition | null> {
  const now = nextTimestamp(before.updated_at, clock);
  const fields = {
    template_context_variables: change.template_context_variables ?? JSON.stringify(before.template_context_variables),
    call_disposition_codes: change.call_disposition_codes ?? JSON.stringify(before.call_disposition_codes),
    workflow_configurations: change.workflow_configurations ?? JSON.stringify(before.workflow_configurations),
  };
  const settings = parseSettings(fields);
  const update = database.prepare<StoredAgent>(
    `UPDATE voice_agent SET name = ?, status = ?, template_context_variables = ?, call_disposition_codes = ?, workflow_configurations = ?,
       updated_at = ? WHERE id = ? AND organization_id = ? AND updated_at = ? RETURNING *`,
    change.name ?? before.name,
    change.status ?? before.status,
    fields.template_context_variables,
    fields.call_disposition_codes,
    fields.workflow_configurations,
    now,
    before.id,
    before.organization_id,
    before.updated_at,
  );
  const readBack = () => selectAgent(database, before.organization_id, before.id);
  if (change.definition === undefined && !haveSettingsChanged(before, settings)) {
    const isRestored = change.status === 'active' && before.status !== 'active';
    const room = isRestored ? [requireWithinLimit(database, organization, 'max_voice_agents')] : [];
    const rows = await compareAndSet(database, update, room, readBack);
    return rows && toAgentWithDefinition({ ...rows[0]!, definition: JSON.stringify(before.workflow_definition) });
  }
  const [variables, codes, configurations] = settingsParameters(settings);
  const version = [
    keepSettingsStatement(database, before),
    database.from(
      database.orm.insert(voiceAgentDefinition).values({
        organizationId: before.organization_id,
        agentId: before.id,
        definition: sql`${change.definition ?? JSON.stringify(before.workflow_definition)}`,
        templateContextVariables: sql`${variables}`,
        callDispositionCodes: sql`${codes}`,
        workflowConfigurations: sql`${configurations}`,
        restoredFrom: change.restored_from ?? null,
        createdAt: now,
      }),
    ),
    database.prepare(
      'UPDATE voice_agent SET current_definition_id = last_insert_rowid() WHERE id = ? AND organization_id = ?',
      before.id,
      before.organization_id,
    ),
  ];
  const rows = await compareAndSet(database, update, version, readBack);
  return rows && findAgentWithDefinition(database, before.organization_id, before.id);
}

/** Gives the versions that have no settings of their own those that the agent has had so far. */
const keepSettingsStatement = (database: Database, before: AgentWithDefinition): Statement =>
  database.prepare(
    `UPDATE voice_agent_definition INDEXED BY voice_agent_definition_without_settings
     SET template_context_variables = ?, call_disposition_codes = ?, workflow_configurations = ?
     WHERE agent_id = ? AND workflow_configurations IS NULL AND organization_id = ?`,
    ...settingsParameters(before),
    before.id,
    before.organization_id,
  );

/** A page of agents, newest first, with the total. `search` scans the names: an organization has thousands of agents at most. */
export async function listAgents(
  database: Database,
  organizationId: number,
  { status, search }: { status: AgentStatus; search?: string | undefined },
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<AgentWithDefinition>> {
  const where = `a.organization_id = ? AND a.status = ?${search ? ' AND instr(lower(a.name), ?) > 0' : ''}`;
  const parameters = [organizationId, status, ...(search ? [search.toLowerCase()] : [])];
  const [rows, counted] = await database.batch([
    database.prepare<StoredAgentWithDefinition>(
      `SELECT a.*, d.definition FROM voice_agent a CROSS JOIN voice_agent_definition d
       WHERE ${where} AND a.id < ? AND d.id = a.current_definition_id ORDER BY a.id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM voice_agent a WHERE ${where} LIMIT ${countLimit})`,
      ...parameters,
    ),
  ]);
  return { ...cutPage(rows.map(toAgentWithDefinition), page.limit, (row) => ({ value: null, id: row.id })), ...counted[0]! };
}
