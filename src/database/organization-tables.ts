/** How an organization's rows of a table are found. */
export interface OrganizationTable {
  table: string;
  /** Conditions of which each row of the organization, `?1`, meets exactly one. Each goes along an index. */
  rows: readonly string[];
  /** The table holds only unfinished work, so that all of it may be read. */
  isShort?: true;
}

const ownRows = 'organization_id = ?1';
const workflows = `workflow_id IN (SELECT id FROM automation_workflow WHERE ${ownRows})`;
const triggers = `trigger_id IN (SELECT id FROM automation_trigger WHERE ${workflows})`;

/**
 * Every table that holds rows of organizations. A table stands before the table by which its rows are found: deleting from the first to the
 * last never leaves rows that cannot be found.
 */
export const organizationTables: readonly OrganizationTable[] = [
  { table: 'run_waiter', rows: [ownRows] },
  { table: 'affected_run', rows: [ownRows] },
  { table: 'exit_topic', rows: [ownRows] },
  { table: 'trigger_topic', rows: [ownRows] },
  { table: 'schedule_fire', rows: [triggers] },
  { table: 'webhook_delivery', rows: [`${triggers} AND delivery_id IS NOT NULL`] },
  { table: 'automation_run', rows: [ownRows] },
  { table: 'workflow_entry', rows: [workflows] },
  { table: 'journey_statistic', rows: [workflows] },
  { table: 'automation_version', rows: [workflows] },
  { table: 'run_move', rows: [workflows] },
  { table: 'automation_trigger', rows: [workflows] },
  { table: 'automation_workflow', rows: [ownRows] },
  { table: 'event', rows: [ownRows] },
  { table: 'event_type', rows: [ownRows] },
  { table: 'message', rows: [ownRows] },
  { table: 'messaging_config', rows: [ownRows] },
  { table: 'unanswered_question', rows: [ownRows] },
  { table: 'call_statistic', rows: [ownRows] },
  { table: 'usage_statistic', rows: [ownRows] },
  { table: 'voice_agent_run', rows: [ownRows] },
  { table: 'voice_agent_definition', rows: [`agent_id IN (SELECT id FROM voice_agent WHERE ${ownRows})`] },
  { table: 'voice_agent', rows: [ownRows] },
  { table: 'telephony_config', rows: [ownRows] },
  { table: 'language_model', rows: [ownRows] },
  { table: 'suppression', rows: [ownRows] },
  { table: 'suppression_proposal', rows: [ownRows] },
  { table: 'contact_policy', rows: [ownRows] },
  { table: 'contact_decision', rows: [ownRows] },
  { table: 'contact_consent', rows: [ownRows] },
  { table: 'call_slots', rows: [ownRows] },
  { table: 'campaign', rows: [ownRows] },
  { table: 'test_session', rows: [ownRows] },
  { table: 'load_test', rows: [ownRows] },
  { table: 'knowledge_chunk', rows: [`document_id IN (SELECT id FROM knowledge_document WHERE ${ownRows})`] },
  { table: 'knowledge_document', rows: [ownRows] },
  { table: 'vector_placement', rows: [ownRows] },
  { table: 'integration_contact', rows: [`integration_id IN (SELECT id FROM integration WHERE ${ownRows})`] },
  { table: 'integration_sync', rows: [`integration_id IN (SELECT id FROM integration WHERE ${ownRows})`] },
  { table: 'connection_request', rows: [ownRows] },
  { table: 'integration', rows: [ownRows] },
  {
    table: 'contact_list_member',
    rows: [
      `list_id IN (SELECT id FROM contact_list WHERE ${ownRows} AND deleted_at IS NULL UNION ALL SELECT id FROM contact_list WHERE ${ownRows} AND deleted_at IS NOT NULL)`,
    ],
  },
  { table: 'contact_list', rows: [`${ownRows} AND deleted_at IS NULL`, `${ownRows} AND deleted_at IS NOT NULL`] },
  { table: 'contact_change', rows: [ownRows] },
  { table: 'contact', rows: [`${ownRows} AND deleted_at IS NULL`, `${ownRows} AND deleted_at IS NOT NULL`] },
  { table: 'custom_field_key', rows: [ownRows] },
  { table: 'webhook_message', rows: [ownRows] },
  { table: 'webhook_endpoint', rows: [ownRows] },
  { table: 'audit_entry', rows: [ownRows] },
  { table: 'organization_usage', rows: [ownRows] },
  { table: 'upload', rows: [ownRows] },
  { table: 'idempotency_key', rows: [ownRows] },
  { table: 'cleanup', rows: [ownRows], isShort: true },
  { table: 'failed_message', rows: [ownRows] },
  { table: 'archive_contact', rows: [`archive_id IN (SELECT id FROM archive WHERE ${ownRows})`] },
  { table: 'archive', rows: [ownRows] },
  { table: 'api_key', rows: [ownRows] },
  { table: 'account_audit_entry', rows: [ownRows] },
  { table: 'invitation', rows: [ownRows] },
  { table: 'password_reset', rows: [ownRows] },
  { table: 'session', rows: [ownRows] },
  { table: 'membership', rows: [ownRows] },
  { table: 'organization', rows: ['id = ?1'] },
];

/** These tables are in the first database, on whichever shard the organization is. */
export const catalogTables: ReadonlySet<string> = new Set([
  'account_audit_entry',
  'invitation',
  'api_key',
  'password_reset',
  'session',
  'membership',
  'organization',
]);

/** Tables without an organization: users, who may be members of several organizations, and the service's own records. */
export const globalTables: readonly string[] = [
  'user',
  'passkey',
  'used_challenge',
  'login_failure',
  'deletion',
  'progress',
  'write_receipt',
  'audit_actor',
  'organization_move',
  'transit',
  'transit_change',
];

/** The folders in R2. The key of an organization's object is one of these, the organization's id and a slash, then a name. */
export const organizationFolders: readonly string[] = [
  'payloads/',
  'runs/',
  'calls/',
  'simtest/',
  'campaign_sources/',
  'knowledge_base/',
  'knowledge_base_pages/',
  'knowledge_base_uploads/',
  'archive/',
];
