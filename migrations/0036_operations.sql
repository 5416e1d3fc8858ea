CREATE TABLE `run_move` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`workflow_id` integer NOT NULL,
	`version` integer NOT NULL,
	`up_to_id` integer NOT NULL,
	`cursor` integer DEFAULT 0 NOT NULL,
	`moved` integer DEFAULT 0 NOT NULL,
	`kept` integer DEFAULT 0 NOT NULL,
	`reasons` text DEFAULT '{}' NOT NULL,
	`due_at` integer,
	`created_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE INDEX `run_move_workflow` ON `run_move` (`workflow_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `run_move_open` ON `run_move` (`workflow_id`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `run_move_due` ON `run_move` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `campaign` ADD `definition_id` integer;--> statement-breakpoint
CREATE INDEX `campaign_blocked` ON `campaign` (`organization_id`) WHERE is_kept = 1 AND (state = 'failed' OR (state_reason IS NOT NULL AND state IN ('syncing', 'running', 'paused')));--> statement-breakpoint
ALTER TABLE `event` ADD `handling` text;--> statement-breakpoint
CREATE INDEX `event_given_up` ON `event` (`organization_id`) WHERE substr(note, 1, 9) = 'given_up:';--> statement-breakpoint
ALTER TABLE `voice_agent_definition` ADD `restored_from` integer;--> statement-breakpoint
CREATE INDEX `automation_trigger_failing` ON `automation_trigger` (`organization_id`) WHERE last_error IS NOT NULL AND state <> 'archived';--> statement-breakpoint
CREATE INDEX `schedule_fire_given_up` ON `schedule_fire` (`organization_id`,`created_at`) WHERE substr(note, 1, 9) = 'given_up:';--> statement-breakpoint
CREATE INDEX `webhook_delivery_trigger` ON `webhook_delivery` (`trigger_id`);--> statement-breakpoint
CREATE INDEX `webhook_delivery_given_up` ON `webhook_delivery` (`organization_id`) WHERE substr(note, 1, 9) = 'given_up:';--> statement-breakpoint
CREATE INDEX `knowledge_document_failed` ON `knowledge_document` (`organization_id`) WHERE status = 'failed' AND is_active = 1;--> statement-breakpoint
CREATE INDEX `cleanup_stuck` ON `cleanup` (`organization_id`) WHERE note IS NOT NULL;--> statement-breakpoint
CREATE INDEX `failed_message_organization` ON `failed_message` (`organization_id`,`first_failed_at`);--> statement-breakpoint
-- The triggers of src/database/audit/audited-tables.ts for campaigns, which have one more column, and for moves of runs.
CREATE TRIGGER audit_run_move_insert AFTER INSERT ON run_move
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'run_move', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('workflow_id', NEW.workflow_id, 'version', NEW.version)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_run_move_update AFTER UPDATE OF workflow_id, version ON run_move
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.workflow_id IS NOT NEW.workflow_id OR OLD.version IS NOT NEW.version) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'run_move', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('workflow_id', OLD.workflow_id, 'version', OLD.version) AS old, json_object('workflow_id', NEW.workflow_id, 'version', NEW.version) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_run_move_delete AFTER DELETE ON run_move
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'run_move', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('workflow_id', OLD.workflow_id, 'version', OLD.version)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
DROP TRIGGER audit_campaign_insert;
--> statement-breakpoint
CREATE TRIGGER audit_campaign_insert AFTER INSERT ON campaign
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'campaign', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'agent_id', NEW.agent_id, 'definition_id', NEW.definition_id, 'state', NEW.state, 'state_reason', NEW.state_reason, 'source_type', NEW.source_type, 'source_id', NEW.source_id, 'source_options', iif(length(NEW.source_options) <= 8000, NEW.source_options, length(NEW.source_options) || iif(1, ' characters', ' characters, changed')), 'max_concurrency', NEW.max_concurrency, 'retry_config', NEW.retry_config, 'schedule_config', iif(length(NEW.schedule_config) <= 8000, NEW.schedule_config, length(NEW.schedule_config) || iif(1, ' characters', ' characters, changed')), 'circuit_breaker', NEW.circuit_breaker)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
DROP TRIGGER audit_campaign_update;
--> statement-breakpoint
CREATE TRIGGER audit_campaign_update AFTER UPDATE OF name, agent_id, definition_id, state, state_reason, source_type, source_id, source_options, max_concurrency, retry_config, schedule_config, circuit_breaker ON campaign
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.agent_id IS NOT NEW.agent_id OR OLD.definition_id IS NOT NEW.definition_id OR OLD.state IS NOT NEW.state OR OLD.state_reason IS NOT NEW.state_reason OR OLD.source_type IS NOT NEW.source_type OR OLD.source_id IS NOT NEW.source_id OR OLD.source_options IS NOT NEW.source_options OR OLD.max_concurrency IS NOT NEW.max_concurrency OR OLD.retry_config IS NOT NEW.retry_config OR OLD.schedule_config IS NOT NEW.schedule_config OR OLD.circuit_breaker IS NOT NEW.circuit_breaker) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'campaign', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'agent_id', OLD.agent_id, 'definition_id', OLD.definition_id, 'state', OLD.state, 'state_reason', OLD.state_reason, 'source_type', OLD.source_type, 'source_id', OLD.source_id, 'source_options', iif(length(OLD.source_options) <= 8000, OLD.source_options, length(OLD.source_options) || iif(1, ' characters', ' characters, changed')), 'max_concurrency', OLD.max_concurrency, 'retry_config', OLD.retry_config, 'schedule_config', iif(length(OLD.schedule_config) <= 8000, OLD.schedule_config, length(OLD.schedule_config) || iif(1, ' characters', ' characters, changed')), 'circuit_breaker', OLD.circuit_breaker) AS old, json_object('name', NEW.name, 'agent_id', NEW.agent_id, 'definition_id', NEW.definition_id, 'state', NEW.state, 'state_reason', NEW.state_reason, 'source_type', NEW.source_type, 'source_id', NEW.source_id, 'source_options', iif(length(NEW.source_options) <= 8000, NEW.source_options, length(NEW.source_options) || iif(OLD.source_options IS NEW.source_options, ' characters', ' characters, changed')), 'max_concurrency', NEW.max_concurrency, 'retry_config', NEW.retry_config, 'schedule_config', iif(length(NEW.schedule_config) <= 8000, NEW.schedule_config, length(NEW.schedule_config) || iif(OLD.schedule_config IS NEW.schedule_config, ' characters', ' characters, changed')), 'circuit_breaker', NEW.circuit_breaker) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
DROP TRIGGER audit_campaign_delete;
--> statement-breakpoint
CREATE TRIGGER audit_campaign_delete AFTER DELETE ON campaign
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'campaign', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'agent_id', OLD.agent_id, 'definition_id', OLD.definition_id, 'state', OLD.state, 'state_reason', OLD.state_reason, 'source_type', OLD.source_type, 'source_id', OLD.source_id, 'source_options', iif(length(OLD.source_options) <= 8000, OLD.source_options, length(OLD.source_options) || iif(1, ' characters', ' characters, changed')), 'max_concurrency', OLD.max_concurrency, 'retry_config', OLD.retry_config, 'schedule_config', iif(length(OLD.schedule_config) <= 8000, OLD.schedule_config, length(OLD.schedule_config) || iif(1, ' characters', ' characters, changed')), 'circuit_breaker', OLD.circuit_breaker)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
