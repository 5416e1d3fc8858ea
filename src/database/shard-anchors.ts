import type { Database } from './client.ts';

/** The ids of shard k begin at k times this, so that an id names one row in all shards. */
export const idsPerShard = 2 ** 40;

const never = '0';
const empty = "''";
const nothing = "'{}'";
const none = "'[]'";

/**
 * A table gives the id after its largest. So each table of a later shard has a first row, its anchor, of no organization: finished, empty, and
 * older than any other. Retention keeps it (`isNoAnchorSql`). The values are SQL, by column.
 */
const anchors: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  archive: { kind: empty, name: "'anchor'", created_at: '9007199254740991' },
  audit_entry: { request_id: empty, action: empty, user_id: '0', credential: empty, record_type: empty, created_at: '9007199254740991' },
  automation_run: {
    workflow_id: '0',
    workflow_version: '0',
    state: "'cancelled'",
    dedup_key: "'anchor'",
    source: empty,
    created_at: never,
    completed_at: never,
    is_test: '1',
  },
  automation_trigger: {
    uuid: "'anchor'",
    workflow_id: '0',
    type: empty,
    name: empty,
    config: nothing,
    state: "'archived'",
    created_at: never,
    updated_at: never,
  },
  automation_workflow: {
    name: empty,
    description: empty,
    version: '0',
    status: "'archived'",
    definition: nothing,
    trigger: nothing,
    context_schema: nothing,
    settings: nothing,
    created_at: never,
  },
  campaign: {
    name: empty,
    agent_id: '0',
    state: "'cancelled'",
    source_type: empty,
    source_id: empty,
    source_options: nothing,
    max_concurrency: '0',
    retry_config: nothing,
    schedule_config: nothing,
    circuit_breaker: nothing,
    created_at: never,
    is_kept: '0',
  },
  contact: { tags: none, custom_fields: nothing, created_at: never, updated_at: never, deleted_at: never },
  contact_consent: {
    phone: empty,
    contact_id: '0',
    channel: "'any'",
    is_given: '0',
    source: empty,
    text: empty,
    at: never,
    created_by: '0',
    created_at: never,
  },
  contact_decision: {
    phone: empty,
    key: empty,
    channel: "'call'",
    source: "'single'",
    source_id: '0',
    state: "'released'",
    created_at: never,
  },
  contact_change: { contact_id: '0', created_at: '9007199254740991' },
  contact_list: { name: empty, metadata: nothing, column_schema: none, created_at: never, updated_at: never, deleted_at: never },
  event: { event_type: empty, data: nothing, created_at: never, handled_at: never },
  integration: {
    provider: empty,
    account_id: empty,
    created_by: '0',
    is_active: '0',
    action: empty,
    connection_params: nothing,
    provider_data: nothing,
    field_mapping: none,
    created_at: never,
    updated_at: never,
  },
  integration_sync: { integration_id: '0', status: "'completed'", errors: none, started_at: never },
  knowledge_chunk: {
    document_id: '0',
    generation: '0',
    chunk_index: '0',
    chunk_text: empty,
    contextualized_text: empty,
    chunk_metadata: nothing,
  },
  knowledge_document: {
    uuid: "'anchor'",
    filename: empty,
    storage_key: empty,
    mime_type: empty,
    status: "'failed'",
    parser_metadata: nothing,
    created_by: '0',
    created_at: never,
    updated_at: never,
    is_active: '0',
  },
  language_model: {
    name: empty,
    provider: "'openai'",
    model: empty,
    api_key: empty,
    purposes: nothing,
    first_token_seconds: '1',
    created_at: never,
    updated_at: never,
  },
  load_test: {
    name: empty,
    status: "'cancelled'",
    actor_agent_id: '0',
    adversary_agent_id: '0',
    test_count: '0',
    concurrency: '0',
    ramp_seconds: '0',
    config: nothing,
    created_at: never,
    completed_at: never,
  },
  message: {
    send_key: "'anchor'",
    provider: empty,
    kind: empty,
    recipient: empty,
    status: "'failed'",
    status_rank: '0',
    history: none,
    created_at: never,
    updated_at: never,
  },
  run_move: { workflow_id: '0', version: '0', up_to_id: '0', created_at: never, finished_at: never },
  suppression: { phone: empty, reason: empty, created_at: never },
  suppression_proposal: { phone: empty, call_run_id: '0', reason: empty, created_at: never },
  telephony_config: {
    name: empty,
    provider: empty,
    credentials: empty,
    from_numbers: none,
    is_default: '0',
    calls_per_second: '1',
    machine_detection: '0',
    callback_origin: empty,
    created_at: never,
    updated_at: never,
  },
  test_session: {
    name: empty,
    status: "'cancelled'",
    actor_agent_id: '0',
    adversary_agent_id: '0',
    created_at: never,
    completed_at: never,
  },
  voice_agent: {
    name: empty,
    status: "'archived'",
    current_definition_id: '0',
    template_context_variables: nothing,
    call_disposition_codes: none,
    workflow_configurations: nothing,
    created_at: never,
    updated_at: never,
  },
  voice_agent_definition: { agent_id: '0', definition: nothing, created_at: never },
  voice_agent_run: {
    agent_id: '0',
    definition_id: '0',
    name: empty,
    mode: empty,
    call_type: empty,
    attempt_key: "'anchor'",
    initial_context: nothing,
    created_at: never,
    is_completed: '1',
    completed_at: never,
  },
  webhook_endpoint: {
    url: empty,
    description: empty,
    secret: empty,
    status: "'deleted'",
    created_at: never,
    updated_at: never,
  },
  webhook_delivery: { trigger_id: '0', delivery_id: "'anchor'", payload: nothing, created_at: never, handled_at: never },
};

/** Tables whose ids nobody outside of their shard sees: work that is deleted when it is done, and the one row of a transaction. */
export const tablesWithoutAnchor: readonly string[] = ['audit_actor', 'cleanup'];

/** A condition that holds for all rows but an anchor. */
export const isNoAnchorSql = (id: string): string => `${id} % ${idsPerShard} <> 0`;

/** The first id of the shard after the one that gave `id`. */
export const firstIdAfterRange = (id: number): number => (Math.floor(id / idsPerShard) + 1) * idsPerShard;

/** The SQL that inserts the anchors of a shard that lacks them. */
export const anchorsSql = (shard: number): string[] =>
  Object.entries(anchors).map(
    ([table, columns]) =>
      `INSERT INTO ${table} (id, organization_id, ${Object.keys(columns).join(', ')})
       VALUES (${shard * idsPerShard}, 0, ${Object.values(columns).join(', ')}) ON CONFLICT (id) DO NOTHING`,
  );

/** SQLite itself gives no id of this table twice. */
const autoincrementedTable = 'knowledge_chunk';

/** Columns that are unique among the rows of no organization, too. */
const uniqueColumns: ReadonlySet<string> = new Set(['phone', 'account_id', 'provider', 'call_run_id']);

const isUnique = (column: string, value: string): boolean => value === "'anchor'" || uniqueColumns.has(column);

/**
 * SQL that gives a table a newest row of no organization when its newest is of `organization`, so that its id is not given again when that row
 * goes; null for a table whose ids nobody outside of the shard sees. Values that are unique have the id with them.
 */
export function newestRowSql(table: string, organization: string): string | null {
  const columns = anchors[table];
  if (!columns || table === autoincrementedTable) return null;
  const values = Object.entries(columns).map(([column, value]) => (isUnique(column, value) ? "'newest:' || (id + 1)" : value));
  return `INSERT INTO ${table} (id, organization_id, ${Object.keys(columns).join(', ')})
    SELECT id + 1, 0, ${values.join(', ')} FROM ${table} WHERE id = (SELECT max(id) FROM ${table}) AND organization_id = ${organization}`;
}

const anchored = new WeakSet<Database>();

/** The events of a shard are counted from its first id on; those with lower ids were counted where they came from. */
const countFromSql = (shard: number): string =>
  `INSERT INTO progress (name, value) VALUES ('events_counted', ${shard * idsPerShard})
   ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`;

/** Makes sure that the ids of a later shard begin where they must. Before its first organization, and before one moves there. */
export async function anchorShard(database: Database, shard: number): Promise<void> {
  if (shard === 0 || anchored.has(database)) return;
  await database.batch(
    [...anchorsSql(shard), countFromSql(shard)].map((text) => database.prepare(text)),
    'idempotent',
  );
  anchored.add(database);
}
