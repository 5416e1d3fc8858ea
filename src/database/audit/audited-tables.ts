/** How the changes of a table are recorded. */
export interface AuditedTable {
  table: string;
  /** The name of the records for callers. */
  recordType: string;
  /** SQL of the record's id and of its organization; `{row}` is OLD or NEW. */
  id: string;
  organization: string;
  /** The columns that people and keys change, at most 16: a function of D1 takes 32 arguments. What the service itself keeps there is left out. */
  columns: readonly string[];
  /** Columns that may be large: beyond 8,000 characters an entry has only that they have changed. */
  large?: readonly string[];
  /** Columns with secrets: an entry has only that they have changed. */
  secret?: readonly string[];
  /** SQL of the rows that are recorded; `{row}` is OLD or NEW. All, where left out. */
  isRecordedSql?: string;
  /** In the catalog. */
  isAccount?: true;
}

const own = { id: '{row}.id', organization: '{row}.organization_id' } as const;

/** The tables with the configuration of an organization. */
export const auditedTables: readonly AuditedTable[] = [
  {
    ...own,
    table: 'voice_agent',
    recordType: 'workflow',
    columns: ['name', 'status', 'current_definition_id', 'template_context_variables', 'call_disposition_codes', 'workflow_configurations'],
    large: ['template_context_variables', 'call_disposition_codes', 'workflow_configurations'],
  },
  {
    ...own,
    table: 'automation_workflow',
    recordType: 'automation_workflow',
    columns: ['name', 'description', 'version', 'status', 'definition', 'trigger', 'context_schema', 'settings'],
    large: ['description', 'definition', 'trigger', 'context_schema', 'settings'],
  },
  {
    ...own,
    table: 'automation_trigger',
    recordType: 'automation_trigger',
    columns: ['workflow_id', 'type', 'name', 'config', 'state', 'is_primary'],
    large: ['config'],
  },
  { ...own, table: 'run_move', recordType: 'run_move', columns: ['workflow_id', 'version'] },
  {
    ...own,
    table: 'campaign',
    recordType: 'campaign',
    columns: [
      'name',
      'agent_id',
      'definition_id',
      'state',
      'state_reason',
      'source_type',
      'source_id',
      'source_options',
      'max_concurrency',
      'retry_config',
      'schedule_config',
      'circuit_breaker',
    ],
    large: ['source_options', 'schedule_config'],
  },
  {
    ...own,
    table: 'contact_list',
    recordType: 'contact_list',
    columns: ['name', 'description', 'metadata', 'column_schema', 'deleted_at'],
    large: ['description', 'metadata', 'column_schema'],
  },
  {
    ...own,
    table: 'suppression',
    recordType: 'suppression',
    columns: ['phone', 'reason', 'source', 'until', 'restored_at', 'restore_reason'],
    large: ['reason', 'restore_reason'],
  },
  { ...own, table: 'suppression_proposal', recordType: 'suppression_proposal', columns: ['phone', 'state'] },
  { ...own, table: 'contact_policy', recordType: 'contact_policy', id: '{row}.organization_id', columns: ['policy'], large: ['policy'] },
  {
    ...own,
    table: 'telephony_config',
    recordType: 'telephony_config',
    columns: ['name', 'provider', 'credentials', 'from_numbers', 'inbound_agent_id', 'is_default', 'calls_per_second', 'machine_detection'],
    large: ['from_numbers'],
    secret: ['credentials'],
  },
  {
    ...own,
    table: 'language_model',
    recordType: 'language_model',
    columns: [
      'name',
      'provider',
      'base_url',
      'model',
      'api_key',
      'purposes',
      'first_token_seconds',
      'prompt_usd_per_million',
      'completion_usd_per_million',
    ],
    secret: ['api_key'],
  },
  {
    ...own,
    table: 'messaging_config',
    recordType: 'messaging_config',
    id: '{row}.organization_id',
    columns: ['provider', 'credentials'],
    secret: ['credentials'],
  },
  {
    ...own,
    table: 'integration',
    recordType: 'integration',
    columns: ['provider', 'account_label', 'is_active', 'action', 'provider_data', 'field_mapping', 'disconnected_at'],
    large: ['provider_data', 'field_mapping'],
  },
  {
    ...own,
    table: 'knowledge_document',
    recordType: 'document',
    id: '{row}.uuid',
    columns: ['filename', 'encoding', 'status', 'is_active'],
  },
  {
    ...own,
    table: 'webhook_endpoint',
    recordType: 'webhook_endpoint',
    columns: ['url', 'description', 'events', 'secret', 'previous_secret_until', 'status'],
    large: ['url', 'description', 'events'],
    secret: ['secret'],
  },
  {
    ...own,
    table: 'organization',
    recordType: 'organization',
    organization: '{row}.id',
    columns: ['name', 'default_country', 'timezone', 'min_hours_between_calls', 'deleting_at'],
    isAccount: true,
  },
  { ...own, table: 'membership', recordType: 'member', id: '{row}.user_id', columns: ['role'], isAccount: true },
  {
    ...own,
    table: 'invitation',
    recordType: 'invitation',
    columns: ['email', 'role', 'expires_at', 'accepted_by', 'revoked_at'],
    isAccount: true,
  },
  {
    ...own,
    table: 'api_key',
    recordType: 'api_key',
    columns: ['name', 'key_prefix', 'scopes', 'expires_at', 'archived_at'],
    isAccount: true,
  },
  {
    ...own,
    table: 'password_reset',
    recordType: 'password_reset',
    id: '{row}.user_id',
    columns: ['token_hash', 'expires_at'],
    secret: ['token_hash'],
    // A token that the person asked for by mail belongs to no organization.
    isRecordedSql: '{row}.organization_id <> 0',
    isAccount: true,
  },
];

const maxCharacters = 8000;

/** `{ column: value }` of a row. A secret and a large value are replaced by words that differ where the value does. */
function toValuesSql({ columns, large = [], secret = [] }: AuditedTable, row: 'OLD' | 'NEW', isUpdate: boolean): string {
  const value = (column: string): string => {
    const stored = `${row}.${column}`;
    const isSame = isUpdate && row === 'NEW' ? `OLD.${column} IS NEW.${column}` : '1';
    if (secret.includes(column)) return `iif(${stored} IS NULL, NULL, iif(${isSame}, 'secret', 'new secret'))`;
    if (!large.includes(column)) return stored;
    return `iif(length(${stored}) <= ${maxCharacters}, ${stored}, length(${stored}) || iif(${isSame}, ' characters', ' characters, changed'))`;
  };
  return `json_object(${columns.map((column) => `'${column}', ${value(column)}`).join(', ')})`;
}

const toChangeSql = (table: AuditedTable, event: 'INSERT' | 'UPDATE' | 'DELETE'): string => {
  if (event === 'UPDATE')
    return `(SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT ${toValuesSql(table, 'OLD', true)} AS old, ${toValuesSql(table, 'NEW', true)} AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key)`;
  const [row, side] = event === 'INSERT' ? (['NEW', 'after'] as const) : (['OLD', 'before'] as const);
  return `(SELECT json_group_object(v.key, json_object('${side}', v.value)) FROM json_each(${toValuesSql(table, row, false)}) v WHERE v.value IS NOT NULL)`;
};

function toTriggerSql(audited: AuditedTable, event: 'INSERT' | 'UPDATE' | 'DELETE'): string {
  const { table, recordType, columns, isRecordedSql, isAccount } = audited;
  const row = event === 'DELETE' ? 'OLD' : 'NEW';
  const isRecorded = isRecordedSql === undefined ? '' : ` AND ${isRecordedSql.replace('{row}', row)}`;
  const of = event === 'UPDATE' ? ` OF ${columns.join(', ')}` : '';
  const isChanged = event === 'UPDATE' ? ` AND (${columns.map((column) => `OLD.${column} IS NOT NEW.${column}`).join(' OR ')})` : '';
  return `CREATE TRIGGER audit_${table}_${event.toLowerCase()} AFTER ${event}${of} ON ${table}
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0)${isRecorded}${isChanged} BEGIN
  INSERT INTO ${isAccount ? 'account_audit_entry' : 'audit_entry'} (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT ${audited.organization.replace('{row}', row)}, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, '${recordType}', ${audited.id.replace('{row}', row)},
    ${toChangeSql(audited, event)}, actor.at
  FROM audit_actor actor;
END;`;
}

/** The triggers that write the audit log, as the database must have them. */
export const auditTriggersSql = (): string[] =>
  auditedTables.flatMap((audited) => (['INSERT', 'UPDATE', 'DELETE'] as const).map((event) => toTriggerSql(audited, event)));
