import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Database, Statement } from '../database/client.ts';
import { telephonyConfig, voiceAgent } from '../database/schema/voice-agents.ts';

export type TelephonyConfigRow = typeof telephonyConfig.$inferSelect;

/** The values of a configuration. The flag of the default configuration is moved separately. */
export type TelephonyConfigValues = Omit<TelephonyConfigRow, 'id' | 'organizationId' | 'isDefault' | 'createdAt'>;

export async function findConfig(database: Database, organizationId: number, id: number): Promise<TelephonyConfigRow | null> {
  const query = database.orm
    .select()
    .from(telephonyConfig)
    .where(and(eq(telephonyConfig.id, id), eq(telephonyConfig.organizationId, organizationId)));
  return (await database.run(() => query))[0] ?? null;
}

/** The default configuration if it is Twilio's, else the oldest one of Twilio. */
export async function findTwilioConfig(database: Database, organizationId: number): Promise<TelephonyConfigRow | null> {
  const query = database.orm
    .select()
    .from(telephonyConfig)
    .where(and(eq(telephonyConfig.organizationId, organizationId), eq(telephonyConfig.provider, 'twilio')))
    .orderBy(desc(telephonyConfig.isDefault), telephonyConfig.id)
    .limit(1);
  return (await database.run(() => query))[0] ?? null;
}

export interface ConfigFilter {
  search: string | undefined;
  before: number | undefined;
  limit: number;
  offset: number;
}

/** A page of configurations, newest first. `limit` includes the extra row that shows whether more follow. */
export async function listConfigs(database: Database, organizationId: number, filter: ConfigFilter) {
  const where = and(
    eq(telephonyConfig.organizationId, organizationId),
    filter.search ? sql`instr(lower(${telephonyConfig.name}), lower(${filter.search})) > 0` : undefined,
  );
  const page = and(where, filter.before === undefined ? undefined : lt(telephonyConfig.id, filter.before));
  const { orm } = database;
  const [rows, counted] = await database.run(() =>
    orm.batch([
      orm.select().from(telephonyConfig).where(page).orderBy(desc(telephonyConfig.id)).limit(filter.limit).offset(filter.offset),
      orm
        .select({ total: sql<number>`count(*)` })
        .from(telephonyConfig)
        .where(where),
    ]),
  );
  return { rows, total: counted[0]!.total };
}

/** The default configuration, and whether any configuration has an agent for inbound calls. */
export async function findDefaultConfig(
  database: Database,
  organizationId: number,
): Promise<{ config: TelephonyConfigRow | null; hasInbound: boolean }> {
  const { orm } = database;
  const ofOrganization = eq(telephonyConfig.organizationId, organizationId);
  const [configs, inbound] = await database.run(() =>
    orm.batch([
      orm
        .select()
        .from(telephonyConfig)
        .where(and(ofOrganization, sql`${telephonyConfig.isDefault} = 1`)),
      orm
        .select({ id: telephonyConfig.id })
        .from(telephonyConfig)
        .where(and(ofOrganization, sql`${telephonyConfig.inboundAgentId} IS NOT NULL`))
        .limit(1),
    ]),
  );
  return { config: configs[0] ?? null, hasInbound: inbound.length > 0 };
}

/** Whether the organization has this voice agent, archived or not. */
export async function hasAgent(database: Database, organizationId: number, agentId: number): Promise<boolean> {
  const query = database.orm
    .select({ id: voiceAgent.id })
    .from(voiceAgent)
    .where(and(eq(voiceAgent.id, agentId), eq(voiceAgent.organizationId, organizationId)));
  return (await database.run(() => query)).length > 0;
}

// A number belongs to one configuration only, so that a call to it has one agent.
const numbersAreFreeSql = (organization: string, numbers: string, own: string) =>
  `NOT EXISTS (SELECT 1 FROM telephony_config t CROSS JOIN json_each(t.from_numbers) n
     WHERE t.organization_id = ${organization} AND t.id IS NOT ${own} AND n.value IN (SELECT value FROM json_each(${numbers})))`;

/** Inserts a configuration, or nothing when one of its numbers is taken. The first configuration of an organization is its default. */
export const insertConfig = (database: Database, organizationId: number, values: TelephonyConfigValues): Statement =>
  database.prepare(
    `INSERT INTO telephony_config (organization_id, name, provider, credentials, from_numbers, inbound_agent_id, calls_per_second,
       machine_detection, callback_origin, is_default, created_at, updated_at)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NOT EXISTS (SELECT 1 FROM telephony_config WHERE organization_id = ?1 AND is_default = 1), ?10, ?10
     WHERE ${numbersAreFreeSql('?1', '?5', 'NULL')} RETURNING id`,
    organizationId,
    ...toColumns(values),
    values.updatedAt,
  );

/**
 * Changes a configuration. Changes nothing when another configuration has one of its numbers, or when the row was changed after `readAt`.
 */
export const updateConfig = (
  database: Database,
  organizationId: number,
  id: number,
  values: TelephonyConfigValues,
  readAt: number,
): Statement =>
  database.prepare(
    `UPDATE telephony_config SET name = ?2, provider = ?3, credentials = ?4, from_numbers = ?5, inbound_agent_id = ?6,
       calls_per_second = ?7, machine_detection = ?8, callback_origin = ?9, updated_at = ?10
     WHERE id = ?11 AND organization_id = ?1 AND updated_at = ?12 AND ${numbersAreFreeSql('?1', '?5', '?11')} RETURNING id`,
    organizationId,
    ...toColumns(values),
    values.updatedAt,
    id,
    readAt,
  );

const toColumns = (values: TelephonyConfigValues) =>
  [
    values.name,
    values.provider,
    JSON.stringify(values.credentials),
    JSON.stringify(values.fromNumbers),
    values.inboundAgentId,
    values.callsPerSecond,
    values.machineDetection ? 1 : 0,
    values.callbackOrigin,
  ] as const;

/** The id of a configuration, as `insertConfig` and `updateConfig` return it. */
export const selectConfigId = (database: Database, organizationId: number, id: number): Statement =>
  database.from(
    database.orm
      .select({ id: telephonyConfig.id })
      .from(telephonyConfig)
      .where(and(eq(telephonyConfig.id, id), eq(telephonyConfig.organizationId, organizationId))),
  );

/** Makes a configuration the default; without an id, the newest one. The unique index requires that the flag is first removed. */
export const moveDefaultFlag = (database: Database, organizationId: number, id: number | null): Statement[] => [
  database.prepare('UPDATE telephony_config SET is_default = 0 WHERE organization_id = ? AND is_default = 1', organizationId),
  database.prepare(
    `UPDATE telephony_config SET is_default = 1
     WHERE organization_id = ?1 AND id = coalesce(?2, (SELECT max(id) FROM telephony_config WHERE organization_id = ?1))`,
    organizationId,
    id,
  ),
];

/** Deletes a configuration, and answers whether it existed. If the default is deleted, the oldest remaining one becomes the default. */
export async function deleteConfig(database: Database, organizationId: number, id: number): Promise<boolean> {
  const statements = [
    database.prepare('DELETE FROM telephony_config WHERE id = ? AND organization_id = ? RETURNING id', id, organizationId),
    database.prepare(
      `UPDATE telephony_config SET is_default = 1 WHERE id = (SELECT min(id) FROM telephony_config WHERE organization_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM telephony_config WHERE organization_id = ?1 AND is_default = 1)`,
      organizationId,
    ),
  ];
  const [deleted] = await database.batchOnce(statements, async ({ changes }) => [changes ? [{ id }] : []], 1);
  return deleted!.length > 0;
}

/** The first of `numbers` that another configuration than `id` has, and the name of that configuration. */
export async function findTakenNumber(
  database: Database,
  organizationId: number,
  numbers: string[],
  id: number | null,
): Promise<{ number: string; id: number; name: string } | null> {
  return database.first(
    database.prepare<{ number: string; id: number; name: string }>(
      `SELECT n.value AS number, t.id, t.name FROM telephony_config t CROSS JOIN json_each(t.from_numbers) n
       WHERE t.organization_id = ?1 AND t.id IS NOT ?3 AND n.value IN (SELECT value FROM json_each(?2)) LIMIT 1`,
      organizationId,
      JSON.stringify(numbers),
      id,
    ),
  );
}
