import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { insertRow } from '../support/insert-row.ts';
import { explainQueryPlans, recordEverything } from '../support/recorded-database.ts';
import { useWholeService } from '../support/whole-service.ts';

afterEach(() => vi.restoreAllMocks());

/** Each index of D1, with words of a query that goes along it. An index without a query is a row that is paid for in vain. */
const queries: Record<string, string> = {
  account_audit_entry_age: 'FROM account_audit_entry spent WHERE created_at < ?1',
  account_audit_entry_organization: 'FROM account_audit_entry WHERE organization_id = ? ORDER BY created_at DESC',
  account_audit_entry_record:
    'FROM account_audit_entry WHERE organization_id = ? AND record_type = ? AND record_id = ? ORDER BY created_at DESC',
  api_key_hash: 'where "api_key"."key_hash" = ?',
  api_key_live: 'select count(*) from "api_key" where ("api_key"."organization_id" = ? and "api_key"."archived_at" is null)',
  api_key_organization: 'select count(*) from "api_key" where ("api_key"."organization_id" = ? and "api_key"."archived_at" IS NOT NULL)',
  archive_age: 'FROM archive WHERE created_at < ?',
  archive_contact_archive: 'FROM archive_contact WHERE archive_id IN (SELECT',
  archive_name: 'FROM archive WHERE organization_id = ?1',
  audit_entry_age: 'FROM audit_entry spent WHERE created_at < ?1',
  audit_entry_organization: 'FROM audit_entry WHERE organization_id = ? ORDER BY created_at DESC',
  audit_entry_record: 'FROM audit_entry WHERE organization_id = ? AND record_type = ? AND record_id = ? ORDER BY created_at DESC',
  automation_run_contact: 'WHERE r.organization_id = ? AND r.is_test = ? AND r.contact_id = ? AND r.id < ? ORDER BY r.id DESC',
  automation_run_dedup: 'JOIN automation_run r WHERE r.organization_id = ? AND r.dedup_key = j.value',
  automation_run_exit_contact:
    "r.contact_id = j.value ->> 'contact_id' AND r.workflow_id = j.value ->> 'workflow_id' AND r.is_exitable = 1",
  automation_run_exit_key: "r.workflow_id = j.value ->> 'workflow_id' AND r.entry_key = j.value ->> 'entry_key' AND r.is_exitable = 1",
  automation_run_hold: "WHERE workflow_id = ? AND hold = 'paused'",
  automation_run_sole: "WHERE workflow_id = w.id AND entry_key = j.value ->> 'entry_key' AND is_sole = 1",
  automation_run_wake: 'FROM automation_run WHERE wake_at IS NOT NULL AND wake_at <= ?1',
  automation_run_workflow: 'r.workflow_id = lane.workflow_id AND r.trigger_id IS lane.trigger_id AND r.id < ? ORDER BY r.id DESC',
  automation_run_workflow_state: "r.workflow_id = ? AND r.state = ? AND r.state <> 'completed' AND r.id < ? ORDER BY r.id DESC",
  automation_trigger_due: 'WHERE t.next_fire_at IS NOT NULL AND t.next_fire_at <= ?',
  automation_trigger_failing: 'FROM automation_trigger r INDEXED BY automation_trigger_failing WHERE r.organization_id = ?1',
  automation_trigger_live: "FROM automation_trigger WHERE organization_id = ?1 AND state <> 'archived'",
  automation_trigger_uuid: 'FROM automation_trigger WHERE uuid = ?',
  automation_trigger_workflow: "FROM automation_trigger WHERE workflow_id = ? AND state <> 'archived' ORDER BY id",
  automation_workflow_held: "WHERE held_runs_count > 0 AND status = 'active'",
  automation_workflow_organization: 'FROM automation_workflow WHERE organization_id = ? AND status IN (SELECT value FROM json_each(?))',
  call_slots_wake: 'FROM call_slots WHERE wake_at IS NOT NULL AND wake_at < ?',
  campaign_blocked: 'FROM campaign r INDEXED BY campaign_blocked WHERE r.organization_id = ?1',
  campaign_ended: 'FROM campaign WHERE completed_at < ? AND is_kept = 1',
  campaign_kept: "WHERE organization_id = ? AND state <> 'draft' AND is_kept = 1",
  campaign_live: "WHERE organization_id = ?1 AND state IN ('syncing', 'running', 'paused') AND agent_id = ?4",
  campaign_organization: 'FROM campaign WHERE organization_id = ?1 AND (?2 IS NULL OR state = ?2)',
  campaign_wake: 'FROM campaign WHERE wake_at IS NOT NULL AND wake_at < ?',
  cleanup_given_up: 'FROM cleanup spent WHERE created_at < ?1 AND spent.note IS NOT NULL',
  cleanup_stuck: 'FROM cleanup r INDEXED BY cleanup_stuck WHERE r.organization_id = ?1',
  connection_request_expiry: 'FROM connection_request spent WHERE expires_at < ?1',
  connection_request_provider: 'from "connection_request" where',
  contact_change_contact: 'DELETE FROM contact_change WHERE contact_id = ?1',
  contact_change_organization: 'FROM contact_change WHERE organization_id = ?',
  contact_consent_contact: 'FROM contact_consent WHERE contact_id = ? AND organization_id = ? AND id < ?',
  contact_consent_person: 'n.organization_id = ?2 AND n.phone = p.value AND n.channel = c.value',
  contact_created: 'WHERE organization_id = ?1 AND deleted_at IS NULL AND true ORDER BY created_at ASC',
  contact_decision_person: "d.organization_id = ?2 AND d.phone = j.value->>'phone' AND d.created_at > ?3",
  contact_deleted: 'FROM contact WHERE organization_id = ?1 AND deleted_at IS NOT NULL',
  contact_deletion: 'FROM contact spent WHERE deleted_at < ?1',
  contact_email: 'WHERE organization_id = ?1 AND email IS NOT NULL AND lower(email) = lower(?2)',
  contact_external_id: 'FROM contact WHERE organization_id = ?1 AND external_id = (?2)',
  contact_last_name: 'AND deleted_at IS NULL AND last_name IS NOT NULL ORDER BY last_name DESC',
  contact_list_deleted: 'FROM contact_list WHERE organization_id = ?1 AND deleted_at IS NOT NULL',
  contact_list_deletion: 'FROM contact_list spent WHERE deleted_at < ?1',
  contact_list_member_contact: 'FROM contact_list_member WHERE contact_id = ?1',
  contact_list_name: 'WHERE organization_id = ? AND name = ? AND deleted_at IS NULL',
  contact_phone: 'FROM contact WHERE organization_id = ?1 AND phone = (?2)',
  contact_updated: 'AND contact.updated_at > ?1 ORDER BY updated_at DESC',
  deletion_due: 'from "deletion" where "deletion"."due_at" < ?',
  deletion_finished: 'FROM deletion spent WHERE finished_at < ?1',
  deletion_subject: 'FROM deletion WHERE subject_id = ? AND finished_at IS NULL',
  event_contact: 'INDEXED BY event_contact WHERE contact_id = ?1',
  event_given_up: 'FROM event r INDEXED BY event_given_up WHERE r.organization_id = ?1',
  event_organization: 'WHERE e.organization_id = ? ORDER BY e.created_at DESC',
  event_organization_type: 'WHERE e.organization_id = ? AND e.event_type = ? ORDER BY e.created_at DESC',
  event_phone: 'WHERE e.organization_id = ? AND e.phone >= ? AND e.phone < ?',
  event_sender_id: 'FROM event WHERE organization_id = ? AND sender_id = ?',
  event_type_age: 'FROM event_type WHERE created_at < ?1',
  failed_message_due: 'FROM failed_message WHERE next_try_at <= ?1',
  failed_message_organization: 'FROM failed_message r INDEXED BY failed_message_organization WHERE r.organization_id = ?1',
  idempotency_key_age: 'FROM idempotency_key spent WHERE created_at < ?1',
  integration_account: 'where ("integration"."account_id" = ?',
  integration_contact_contact: 'FROM integration_contact WHERE contact_id = ?1',
  integration_current: '("integration"."organization_id" = ? and "integration"."disconnected_at" is null)',
  integration_due: 'FROM integration WHERE next_sync_at <= ?1 AND next_sync_at IS NOT NULL AND is_active = 1',
  integration_organization: 'FROM integration WHERE organization_id = ?1',
  integration_sync_integration: 'FROM integration_sync WHERE integration_id IN (SELECT',
  integration_sync_lease: "FROM integration_sync WHERE status = 'running' AND lease_until < ?1",
  knowledge_chunk_place: 'FROM knowledge_chunk k WHERE k.document_id = spent.id',
  knowledge_document_deleted: 'FROM knowledge_document spent WHERE updated_at < ?1 AND spent.is_active = 0',
  knowledge_document_due: 'FROM knowledge_document WHERE due_at IS NOT NULL AND due_at < ?',
  knowledge_document_failed: 'FROM knowledge_document r INDEXED BY knowledge_document_failed WHERE r.organization_id = ?1',
  knowledge_document_hash: "WHERE o.organization_id = ?1 AND o.file_hash = ?4 AND o.file_hash <> ''",
  knowledge_document_organization: 'FROM knowledge_document WHERE organization_id = ?1',
  knowledge_document_uuid: 'FROM knowledge_document WHERE organization_id = ? AND uuid = ?',
  invitation_expiry: 'FROM invitation spent WHERE expires_at < ?1',
  invitation_organization: 'FROM invitation WHERE organization_id = ?1 AND accepted_at IS NULL',
  invitation_token: 'FROM invitation i CROSS JOIN organization o WHERE i.token_hash = ?1',
  load_test_organization: 'FROM load_test WHERE organization_id = ? AND id < ? ORDER BY id DESC',
  load_test_wake: 'FROM load_test WHERE wake_at IS NOT NULL AND wake_at < ?',
  login_failure_end: 'FROM login_failure spent WHERE window_ends_at < ?1',
  membership_organization: 'FROM membership m CROSS JOIN user u WHERE m.organization_id = ?',
  message_contact: 'FROM message WHERE contact_id = ?1 ORDER BY id',
  language_model_organization: 'from "language_model" where "language_model"."organization_id" = ? order by',
  message_provider: 'WHERE r.organization_id = ? AND r.provider = lane.value AND r.id < ? ORDER BY r.id DESC',
  message_provider_id: 'WHERE m.organization_id = ?2 AND m.message_id = j.value AND m.provider = ?3',
  message_recipient: 'WHERE r.organization_id = ? AND r.recipient = ? AND r.id < ? ORDER BY r.id DESC',
  message_send_key: 'FROM message WHERE organization_id = ? AND send_key = ?',
  message_status: 'WHERE r.organization_id = ? AND r.status = ? AND r.id < ? ORDER BY r.id DESC',
  organization_move_due: 'FROM organization_move WHERE due_at IS NOT NULL AND due_at < ?',
  organization_statistics_rebuild: 'FROM organization WHERE statistics_rebuild IS NOT NULL',
  passkey_credential: 'from "passkey" where "passkey"."credential_id" = ?',
  passkey_user: 'from "passkey" where "passkey"."user_id" = ?',
  used_challenge_expiry: 'FROM used_challenge spent WHERE expires_at < ?1',
  password_reset_expiry: 'FROM password_reset spent WHERE expires_at < ?1',
  password_reset_organization: 'FROM password_reset WHERE organization_id = ?1',
  password_reset_token: 'WHERE r.token_hash = ?1 AND r.expires_at > ?2',
  run_move_due: 'FROM run_move WHERE due_at IS NOT NULL AND due_at < ?',
  run_move_open: 'FROM run_move INDEXED BY run_move_open WHERE workflow_id = ? AND finished_at IS NULL',
  run_move_workflow: 'FROM run_move INDEXED BY run_move_workflow WHERE workflow_id = ?',
  schedule_fire_given_up: 'FROM schedule_fire r INDEXED BY schedule_fire_given_up WHERE r.organization_id = ?1',
  schedule_fire_handled: 'FROM schedule_fire spent WHERE handled_at < ?1',
  schedule_fire_open: 'WHERE handled_at IS NULL AND created_at < ?',
  session_expiry: 'FROM session spent WHERE expires_at < ?1',
  session_organization: 'delete from "session" where "session"."organization_id" = ?',
  session_user: 'FROM session WHERE user_id = ?1',
  suppression_end: 'FROM suppression spent WHERE until < ?1',
  suppression_organization: 'FROM suppression WHERE organization_id = ?1 AND (?4 IS NULL OR until IS NULL OR until > ?4) AND id < ?5',
  suppression_proposal_age: 'FROM suppression_proposal spent WHERE created_at < ?1',
  suppression_proposal_phone: "WHERE organization_id = ?2 AND phone = ?3 AND state = 'open'",
  suppression_proposal_state: 'FROM suppression_proposal WHERE organization_id = ?1 AND state = ?2',
  suppression_phone: 'JOIN suppression s WHERE s.organization_id = ?2 AND s.phone = p.value',
  telephony_config_default: 'FROM telephony_config WHERE organization_id = ?1 AND is_default = 1',
  telephony_config_organization: 'from "telephony_config" where "telephony_config"."organization_id" = ? order by',
  test_session_load_test: 'WHERE r.organization_id = ? AND r.load_test_id = ? AND r.id < ? ORDER BY r.id DESC',
  test_session_status: 'r.status = lane.value AND r.organization_id = ? AND r.id < ? ORDER BY r.id DESC',
  test_session_wake: 'FROM test_session WHERE wake_at IS NOT NULL AND wake_at < ?',
  trigger_topic_trigger: 'DELETE FROM trigger_topic WHERE trigger_id = (SELECT',
  upload_age: 'FROM upload WHERE created_at < ?',
  upload_organization: 'FROM upload WHERE organization_id = ?1',
  user_email: 'FROM user u CROSS JOIN session s WHERE (u.email = ?1',
  vector_placement_due: 'FROM vector_placement WHERE due_at IS NOT NULL AND due_at < ?',
  voice_agent_definition_agent: 'FROM voice_agent_definition WHERE agent_id IN (SELECT',
  voice_agent_definition_without_settings: 'UPDATE voice_agent_definition INDEXED BY voice_agent_definition_without_settings',
  voice_agent_organization: 'FROM voice_agent a CROSS JOIN voice_agent_definition d WHERE a.organization_id = ? AND a.status = ?',
  voice_agent_run_agent: 'FROM voice_agent_run WHERE organization_id = ? AND agent_id = ? AND id < ? ORDER BY id DESC',
  voice_agent_run_attempt: 'FROM voice_agent_run WHERE organization_id = ?1',
  voice_agent_run_campaign: 'FROM voice_agent_run r INDEXED BY voice_agent_run_campaign WHERE r.campaign_id = ?',
  voice_agent_run_contact: 'WHERE contact_id = ? AND organization_id = ? AND mode NOT IN',
  voice_agent_run_created:
    "FROM voice_agent_run r INDEXED BY voice_agent_run_created WHERE r.organization_id = ? AND r.mode <> 'textchat' ORDER BY r.created_at DESC",
  voice_agent_run_journey: 'FROM voice_agent_run r INDEXED BY voice_agent_run_journey WHERE r.automation_workflow_id = ?',
  voice_agent_run_open: 'FROM voice_agent_run WHERE organization_id = ? AND agent_id = ? AND is_completed = 0 AND id < ?',
  voice_agent_run_phone: 'FROM voice_agent_run r INDEXED BY voice_agent_run_phone WHERE r.organization_id = ? AND r.phone = ?',
  voice_agent_run_talk: 'FROM voice_agent_run r INDEXED BY voice_agent_run_talk WHERE r.organization_id = ? AND r.talk_seconds > 0',
  voice_agent_run_wake: "FROM voice_agent_run WHERE wake_at < ? AND mode = 'textchat'",
  webhook_endpoint_organization: "FROM webhook_endpoint WHERE organization_id = ?1 AND status <> 'deleted' AND id < ?2 ORDER BY id DESC",
  webhook_endpoint_wake: 'FROM webhook_endpoint WHERE wake_at IS NOT NULL AND wake_at <= ?',
  webhook_message_due: 'm.due_at IS NOT NULL AND m.due_at <= ?3 ORDER BY m.due_at',
  webhook_message_pending: "o.subject = m.subject AND o.status = 'pending' AND o.sequence < m.sequence) AS previous",
  webhook_delivery_contact: 'INDEXED BY webhook_delivery_contact WHERE contact_id = ?1',
  webhook_delivery_given_up: 'FROM webhook_delivery r INDEXED BY webhook_delivery_given_up WHERE r.organization_id = ?1',
  webhook_delivery_trigger: 'FROM webhook_delivery s INDEXED BY webhook_delivery_trigger WHERE s.trigger_id = ?',
  webhook_delivery_id: 'FROM webhook_delivery WHERE trigger_id = ?1 AND delivery_id = ?3',
};

/** Indexes that only refuse a second row: two such rows. */
const rules = {
  automation_trigger_primary: ['automation_trigger', { workflow_id: 999_999_999, is_primary: 1, state: 'active' }],
  suppression_proposal_call: ['suppression_proposal', { organization_id: 999_999_999, call_run_id: 1 }],
  integration_sync_running: ['integration_sync', { integration_id: 999_999_999, status: 'running' }],
} as const;

test('each index of D1 has a query that goes along it, or a rule that it keeps', async () => {
  const recording = recordEverything();
  await useWholeService();
  vi.restoreAllMocks();
  const plans = (await explainQueryPlans(recording)).map(({ sql, plan }) => ({ sql: sql.replaceAll(/\s+/g, ' '), plan: plan.join('\n') }));
  const { results } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name").all<{
    name: string;
  }>();
  expect([...Object.keys(queries), ...Object.keys(rules)].toSorted()).toEqual(results.map(({ name }) => name));
  const unused = Object.entries(queries).filter(([name, words]) => {
    const goesAlong = new RegExp(`USING (COVERING )?INDEX ${name}\\b`);
    return !plans.some(({ sql, plan }) => sql.includes(words) && goesAlong.test(plan));
  });
  expect(unused).toEqual([]);
}, 120_000);

test.each(Object.entries(rules))('%s refuses a second row', async (_name, [table, row]) => {
  const first = await insertRow(table, row);
  await expect(insertRow(table, row)).rejects.toThrow('UNIQUE constraint failed');
  await env.DB.prepare(`DELETE FROM ${table} WHERE id = ?`).bind(first).run();
});
