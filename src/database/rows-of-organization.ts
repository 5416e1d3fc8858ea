/** Where an organization's rows of a table stand. */
export interface OwnedTable {
  table: string;
  /** Conditions of which each row of the organization, `?1`, meets exactly one. Each goes along an index. */
  rows: readonly string[];
  /** The table holds only what is under way, so that it may be read as it stands. */
  isShort?: true;
}

const own = 'organization_id = ?1';
const workflows = `workflow_id IN (SELECT id FROM automation_workflow WHERE ${own})`;
const triggers = `trigger_id IN (SELECT id FROM automation_trigger WHERE ${workflows})`;

/**
 * Every table that holds rows of organizations. Those of one stand before the table by which they are found: whoever takes all of an
 * organization away goes from the first to the last, and is never left with rows that nothing leads to.
 */
export const tablesOfOrganizations: readonly OwnedTable[] = [
  { table: 'run_waiter', rows: [own] },
  { table: 'exit_topic', rows: [own] },
  { table: 'trigger_topic', rows: [own] },
  { table: 'schedule_fire', rows: [triggers] },
  { table: 'webhook_delivery', rows: [`${triggers} AND delivery_id IS NOT NULL`] },
  { table: 'automation_run', rows: [own] },
  { table: 'workflow_entry', rows: [workflows] },
  { table: 'automation_version', rows: [workflows] },
  { table: 'automation_trigger', rows: [workflows] },
  { table: 'automation_workflow', rows: [own] },
  { table: 'event', rows: [own] },
  { table: 'event_type', rows: [own] },
  { table: 'message', rows: [own] },
  { table: 'messaging_config', rows: [own] },
  { table: 'voice_agent_run', rows: [own] },
  { table: 'voice_agent_definition', rows: [`agent_id IN (SELECT id FROM voice_agent WHERE ${own})`] },
  { table: 'voice_agent', rows: [own] },
  { table: 'telephony_config', rows: [own] },
  { table: 'suppression', rows: [own] },
  { table: 'call_slots', rows: [own] },
  { table: 'campaign', rows: [own] },
  { table: 'test_session', rows: [own] },
  { table: 'load_test', rows: [own] },
  { table: 'knowledge_chunk', rows: [`document_id IN (SELECT id FROM knowledge_document WHERE ${own})`] },
  { table: 'knowledge_document', rows: [own] },
  { table: 'vector_placement', rows: [own] },
  { table: 'integration_contact', rows: [`integration_id IN (SELECT id FROM integration WHERE ${own})`] },
  { table: 'integration_sync', rows: [`integration_id IN (SELECT id FROM integration WHERE ${own})`] },
  { table: 'connection_request', rows: [own] },
  { table: 'integration', rows: [own] },
  {
    table: 'contact_list_member',
    rows: [
      `list_id IN (SELECT id FROM contact_list WHERE ${own} AND deleted_at IS NULL UNION ALL SELECT id FROM contact_list WHERE ${own} AND deleted_at IS NOT NULL)`,
    ],
  },
  { table: 'contact_list', rows: [`${own} AND deleted_at IS NULL`, `${own} AND deleted_at IS NOT NULL`] },
  { table: 'contact_change', rows: [own] },
  { table: 'contact', rows: [`${own} AND deleted_at IS NULL`, `${own} AND deleted_at IS NOT NULL`] },
  { table: 'custom_field_key', rows: [own] },
  { table: 'organization_usage', rows: [own] },
  { table: 'upload', rows: [own] },
  { table: 'idempotency_key', rows: [own] },
  { table: 'cleanup', rows: [own], isShort: true },
  { table: 'failed_message', rows: [own], isShort: true },
  { table: 'archive_contact', rows: [`archive_id IN (SELECT id FROM archive WHERE ${own})`] },
  { table: 'archive', rows: [own] },
  { table: 'api_key', rows: [own] },
  { table: 'password_reset', rows: [own] },
  { table: 'session', rows: [own] },
  { table: 'membership', rows: [own] },
  { table: 'organization', rows: ['id = ?1'] },
];

/** Tables whose rows are no organization's: people, who may be members of several, and the service's own notes. */
export const tablesOfNobody: readonly string[] = ['user', 'login_failure', 'deletion', 'progress', 'write_receipt'];

/** What R2 keeps of an organization begins with one of these, then its id and a slash. */
export const foldersOfOrganizations: readonly string[] = [
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
