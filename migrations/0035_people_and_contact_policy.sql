CREATE TABLE `invitation` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`role` text NOT NULL,
	`email` text,
	`token_hash` text NOT NULL,
	`created_by` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`accepted_at` integer,
	`accepted_by` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitation_token` ON `invitation` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invitation_organization` ON `invitation` (`organization_id`);--> statement-breakpoint
CREATE INDEX `invitation_expiry` ON `invitation` (`expires_at`);--> statement-breakpoint
CREATE TABLE `account_audit_entry` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`request_id` text NOT NULL,
	`action` text NOT NULL,
	`user_id` integer NOT NULL,
	`credential` text NOT NULL,
	`address` text,
	`record_type` text NOT NULL,
	`record_id` text,
	`change` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `account_audit_entry_organization` ON `account_audit_entry` (`organization_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `account_audit_entry_record` ON `account_audit_entry` (`organization_id`,`record_type`,`record_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `account_audit_entry_age` ON `account_audit_entry` (`created_at`);--> statement-breakpoint
CREATE TABLE `audit_actor` (
	`id` integer PRIMARY KEY NOT NULL,
	`for_organization` integer,
	`request_id` text NOT NULL,
	`action` text NOT NULL,
	`user_id` integer NOT NULL,
	`credential` text NOT NULL,
	`address` text,
	`at` integer NOT NULL,
	`record_type` text NOT NULL,
	`record_id` text,
	`is_summary` integer NOT NULL,
	`changes_before` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `audit_entry` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`request_id` text NOT NULL,
	`action` text NOT NULL,
	`user_id` integer NOT NULL,
	`credential` text NOT NULL,
	`address` text,
	`record_type` text NOT NULL,
	`record_id` text,
	`change` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entry_organization` ON `audit_entry` (`organization_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `audit_entry_record` ON `audit_entry` (`organization_id`,`record_type`,`record_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `audit_entry_age` ON `audit_entry` (`created_at`);--> statement-breakpoint
CREATE TABLE `contact_consent` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`phone` text NOT NULL,
	`contact_id` integer NOT NULL,
	`channel` text NOT NULL,
	`is_given` integer NOT NULL,
	`source` text NOT NULL,
	`text` text NOT NULL,
	`at` integer NOT NULL,
	`created_by` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contact_consent_person` ON `contact_consent` (`organization_id`,`phone`,`at`);--> statement-breakpoint
CREATE INDEX `contact_consent_contact` ON `contact_consent` (`contact_id`);--> statement-breakpoint
CREATE TABLE `contact_decision` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`phone` text NOT NULL,
	`key` text NOT NULL,
	`channel` text NOT NULL,
	`source` text NOT NULL,
	`source_id` integer NOT NULL,
	`state` text NOT NULL,
	`rule` text,
	`detail` text,
	`until` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contact_decision_person` ON `contact_decision` (`organization_id`,`phone`,`created_at`);--> statement-breakpoint
CREATE TABLE `contact_policy` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`policy` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `membership` ADD `role` text DEFAULT 'owner' NOT NULL;--> statement-breakpoint
ALTER TABLE `session` ADD `user_agent` text;--> statement-breakpoint
-- A key does what its maker may. One that works although its maker has left becomes that of the longest-serving member, who is an owner.
UPDATE api_key SET created_by = (
  SELECT m.user_id FROM membership m WHERE m.organization_id = api_key.organization_id ORDER BY m.created_at, m.user_id LIMIT 1)
WHERE archived_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.user_id = api_key.created_by AND m.organization_id = api_key.organization_id)
  AND EXISTS (SELECT 1 FROM membership m WHERE m.organization_id = api_key.organization_id);
--> statement-breakpoint
-- The triggers of src/database/audit/audited-tables.ts, which makes them: they write the audit log in the transaction of each change.
CREATE TRIGGER audit_voice_agent_insert AFTER INSERT ON voice_agent
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'workflow', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'status', NEW.status, 'current_definition_id', NEW.current_definition_id, 'template_context_variables', iif(length(NEW.template_context_variables) <= 8000, NEW.template_context_variables, length(NEW.template_context_variables) || iif(1, ' characters', ' characters, changed')), 'call_disposition_codes', iif(length(NEW.call_disposition_codes) <= 8000, NEW.call_disposition_codes, length(NEW.call_disposition_codes) || iif(1, ' characters', ' characters, changed')), 'workflow_configurations', iif(length(NEW.workflow_configurations) <= 8000, NEW.workflow_configurations, length(NEW.workflow_configurations) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_voice_agent_update AFTER UPDATE OF name, status, current_definition_id, template_context_variables, call_disposition_codes, workflow_configurations ON voice_agent
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.status IS NOT NEW.status OR OLD.current_definition_id IS NOT NEW.current_definition_id OR OLD.template_context_variables IS NOT NEW.template_context_variables OR OLD.call_disposition_codes IS NOT NEW.call_disposition_codes OR OLD.workflow_configurations IS NOT NEW.workflow_configurations) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'workflow', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'status', OLD.status, 'current_definition_id', OLD.current_definition_id, 'template_context_variables', iif(length(OLD.template_context_variables) <= 8000, OLD.template_context_variables, length(OLD.template_context_variables) || iif(1, ' characters', ' characters, changed')), 'call_disposition_codes', iif(length(OLD.call_disposition_codes) <= 8000, OLD.call_disposition_codes, length(OLD.call_disposition_codes) || iif(1, ' characters', ' characters, changed')), 'workflow_configurations', iif(length(OLD.workflow_configurations) <= 8000, OLD.workflow_configurations, length(OLD.workflow_configurations) || iif(1, ' characters', ' characters, changed'))) AS old, json_object('name', NEW.name, 'status', NEW.status, 'current_definition_id', NEW.current_definition_id, 'template_context_variables', iif(length(NEW.template_context_variables) <= 8000, NEW.template_context_variables, length(NEW.template_context_variables) || iif(OLD.template_context_variables IS NEW.template_context_variables, ' characters', ' characters, changed')), 'call_disposition_codes', iif(length(NEW.call_disposition_codes) <= 8000, NEW.call_disposition_codes, length(NEW.call_disposition_codes) || iif(OLD.call_disposition_codes IS NEW.call_disposition_codes, ' characters', ' characters, changed')), 'workflow_configurations', iif(length(NEW.workflow_configurations) <= 8000, NEW.workflow_configurations, length(NEW.workflow_configurations) || iif(OLD.workflow_configurations IS NEW.workflow_configurations, ' characters', ' characters, changed'))) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_voice_agent_delete AFTER DELETE ON voice_agent
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'workflow', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'status', OLD.status, 'current_definition_id', OLD.current_definition_id, 'template_context_variables', iif(length(OLD.template_context_variables) <= 8000, OLD.template_context_variables, length(OLD.template_context_variables) || iif(1, ' characters', ' characters, changed')), 'call_disposition_codes', iif(length(OLD.call_disposition_codes) <= 8000, OLD.call_disposition_codes, length(OLD.call_disposition_codes) || iif(1, ' characters', ' characters, changed')), 'workflow_configurations', iif(length(OLD.workflow_configurations) <= 8000, OLD.workflow_configurations, length(OLD.workflow_configurations) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_automation_workflow_insert AFTER INSERT ON automation_workflow
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'automation_workflow', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'description', iif(length(NEW.description) <= 8000, NEW.description, length(NEW.description) || iif(1, ' characters', ' characters, changed')), 'version', NEW.version, 'status', NEW.status, 'definition', iif(length(NEW.definition) <= 8000, NEW.definition, length(NEW.definition) || iif(1, ' characters', ' characters, changed')), 'trigger', iif(length(NEW.trigger) <= 8000, NEW.trigger, length(NEW.trigger) || iif(1, ' characters', ' characters, changed')), 'context_schema', iif(length(NEW.context_schema) <= 8000, NEW.context_schema, length(NEW.context_schema) || iif(1, ' characters', ' characters, changed')), 'settings', iif(length(NEW.settings) <= 8000, NEW.settings, length(NEW.settings) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_automation_workflow_update AFTER UPDATE OF name, description, version, status, definition, trigger, context_schema, settings ON automation_workflow
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.description IS NOT NEW.description OR OLD.version IS NOT NEW.version OR OLD.status IS NOT NEW.status OR OLD.definition IS NOT NEW.definition OR OLD.trigger IS NOT NEW.trigger OR OLD.context_schema IS NOT NEW.context_schema OR OLD.settings IS NOT NEW.settings) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'automation_workflow', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'description', iif(length(OLD.description) <= 8000, OLD.description, length(OLD.description) || iif(1, ' characters', ' characters, changed')), 'version', OLD.version, 'status', OLD.status, 'definition', iif(length(OLD.definition) <= 8000, OLD.definition, length(OLD.definition) || iif(1, ' characters', ' characters, changed')), 'trigger', iif(length(OLD.trigger) <= 8000, OLD.trigger, length(OLD.trigger) || iif(1, ' characters', ' characters, changed')), 'context_schema', iif(length(OLD.context_schema) <= 8000, OLD.context_schema, length(OLD.context_schema) || iif(1, ' characters', ' characters, changed')), 'settings', iif(length(OLD.settings) <= 8000, OLD.settings, length(OLD.settings) || iif(1, ' characters', ' characters, changed'))) AS old, json_object('name', NEW.name, 'description', iif(length(NEW.description) <= 8000, NEW.description, length(NEW.description) || iif(OLD.description IS NEW.description, ' characters', ' characters, changed')), 'version', NEW.version, 'status', NEW.status, 'definition', iif(length(NEW.definition) <= 8000, NEW.definition, length(NEW.definition) || iif(OLD.definition IS NEW.definition, ' characters', ' characters, changed')), 'trigger', iif(length(NEW.trigger) <= 8000, NEW.trigger, length(NEW.trigger) || iif(OLD.trigger IS NEW.trigger, ' characters', ' characters, changed')), 'context_schema', iif(length(NEW.context_schema) <= 8000, NEW.context_schema, length(NEW.context_schema) || iif(OLD.context_schema IS NEW.context_schema, ' characters', ' characters, changed')), 'settings', iif(length(NEW.settings) <= 8000, NEW.settings, length(NEW.settings) || iif(OLD.settings IS NEW.settings, ' characters', ' characters, changed'))) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_automation_workflow_delete AFTER DELETE ON automation_workflow
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'automation_workflow', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'description', iif(length(OLD.description) <= 8000, OLD.description, length(OLD.description) || iif(1, ' characters', ' characters, changed')), 'version', OLD.version, 'status', OLD.status, 'definition', iif(length(OLD.definition) <= 8000, OLD.definition, length(OLD.definition) || iif(1, ' characters', ' characters, changed')), 'trigger', iif(length(OLD.trigger) <= 8000, OLD.trigger, length(OLD.trigger) || iif(1, ' characters', ' characters, changed')), 'context_schema', iif(length(OLD.context_schema) <= 8000, OLD.context_schema, length(OLD.context_schema) || iif(1, ' characters', ' characters, changed')), 'settings', iif(length(OLD.settings) <= 8000, OLD.settings, length(OLD.settings) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_automation_trigger_insert AFTER INSERT ON automation_trigger
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'automation_trigger', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('workflow_id', NEW.workflow_id, 'type', NEW.type, 'name', NEW.name, 'config', iif(length(NEW.config) <= 8000, NEW.config, length(NEW.config) || iif(1, ' characters', ' characters, changed')), 'state', NEW.state, 'is_primary', NEW.is_primary)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_automation_trigger_update AFTER UPDATE OF workflow_id, type, name, config, state, is_primary ON automation_trigger
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.workflow_id IS NOT NEW.workflow_id OR OLD.type IS NOT NEW.type OR OLD.name IS NOT NEW.name OR OLD.config IS NOT NEW.config OR OLD.state IS NOT NEW.state OR OLD.is_primary IS NOT NEW.is_primary) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'automation_trigger', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('workflow_id', OLD.workflow_id, 'type', OLD.type, 'name', OLD.name, 'config', iif(length(OLD.config) <= 8000, OLD.config, length(OLD.config) || iif(1, ' characters', ' characters, changed')), 'state', OLD.state, 'is_primary', OLD.is_primary) AS old, json_object('workflow_id', NEW.workflow_id, 'type', NEW.type, 'name', NEW.name, 'config', iif(length(NEW.config) <= 8000, NEW.config, length(NEW.config) || iif(OLD.config IS NEW.config, ' characters', ' characters, changed')), 'state', NEW.state, 'is_primary', NEW.is_primary) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_automation_trigger_delete AFTER DELETE ON automation_trigger
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'automation_trigger', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('workflow_id', OLD.workflow_id, 'type', OLD.type, 'name', OLD.name, 'config', iif(length(OLD.config) <= 8000, OLD.config, length(OLD.config) || iif(1, ' characters', ' characters, changed')), 'state', OLD.state, 'is_primary', OLD.is_primary)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_campaign_insert AFTER INSERT ON campaign
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'campaign', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'agent_id', NEW.agent_id, 'state', NEW.state, 'state_reason', NEW.state_reason, 'source_type', NEW.source_type, 'source_id', NEW.source_id, 'source_options', iif(length(NEW.source_options) <= 8000, NEW.source_options, length(NEW.source_options) || iif(1, ' characters', ' characters, changed')), 'max_concurrency', NEW.max_concurrency, 'retry_config', NEW.retry_config, 'schedule_config', iif(length(NEW.schedule_config) <= 8000, NEW.schedule_config, length(NEW.schedule_config) || iif(1, ' characters', ' characters, changed')), 'circuit_breaker', NEW.circuit_breaker)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_campaign_update AFTER UPDATE OF name, agent_id, state, state_reason, source_type, source_id, source_options, max_concurrency, retry_config, schedule_config, circuit_breaker ON campaign
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.agent_id IS NOT NEW.agent_id OR OLD.state IS NOT NEW.state OR OLD.state_reason IS NOT NEW.state_reason OR OLD.source_type IS NOT NEW.source_type OR OLD.source_id IS NOT NEW.source_id OR OLD.source_options IS NOT NEW.source_options OR OLD.max_concurrency IS NOT NEW.max_concurrency OR OLD.retry_config IS NOT NEW.retry_config OR OLD.schedule_config IS NOT NEW.schedule_config OR OLD.circuit_breaker IS NOT NEW.circuit_breaker) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'campaign', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'agent_id', OLD.agent_id, 'state', OLD.state, 'state_reason', OLD.state_reason, 'source_type', OLD.source_type, 'source_id', OLD.source_id, 'source_options', iif(length(OLD.source_options) <= 8000, OLD.source_options, length(OLD.source_options) || iif(1, ' characters', ' characters, changed')), 'max_concurrency', OLD.max_concurrency, 'retry_config', OLD.retry_config, 'schedule_config', iif(length(OLD.schedule_config) <= 8000, OLD.schedule_config, length(OLD.schedule_config) || iif(1, ' characters', ' characters, changed')), 'circuit_breaker', OLD.circuit_breaker) AS old, json_object('name', NEW.name, 'agent_id', NEW.agent_id, 'state', NEW.state, 'state_reason', NEW.state_reason, 'source_type', NEW.source_type, 'source_id', NEW.source_id, 'source_options', iif(length(NEW.source_options) <= 8000, NEW.source_options, length(NEW.source_options) || iif(OLD.source_options IS NEW.source_options, ' characters', ' characters, changed')), 'max_concurrency', NEW.max_concurrency, 'retry_config', NEW.retry_config, 'schedule_config', iif(length(NEW.schedule_config) <= 8000, NEW.schedule_config, length(NEW.schedule_config) || iif(OLD.schedule_config IS NEW.schedule_config, ' characters', ' characters, changed')), 'circuit_breaker', NEW.circuit_breaker) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_campaign_delete AFTER DELETE ON campaign
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'campaign', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'agent_id', OLD.agent_id, 'state', OLD.state, 'state_reason', OLD.state_reason, 'source_type', OLD.source_type, 'source_id', OLD.source_id, 'source_options', iif(length(OLD.source_options) <= 8000, OLD.source_options, length(OLD.source_options) || iif(1, ' characters', ' characters, changed')), 'max_concurrency', OLD.max_concurrency, 'retry_config', OLD.retry_config, 'schedule_config', iif(length(OLD.schedule_config) <= 8000, OLD.schedule_config, length(OLD.schedule_config) || iif(1, ' characters', ' characters, changed')), 'circuit_breaker', OLD.circuit_breaker)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_contact_list_insert AFTER INSERT ON contact_list
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'contact_list', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'description', iif(length(NEW.description) <= 8000, NEW.description, length(NEW.description) || iif(1, ' characters', ' characters, changed')), 'metadata', iif(length(NEW.metadata) <= 8000, NEW.metadata, length(NEW.metadata) || iif(1, ' characters', ' characters, changed')), 'column_schema', iif(length(NEW.column_schema) <= 8000, NEW.column_schema, length(NEW.column_schema) || iif(1, ' characters', ' characters, changed')), 'deleted_at', NEW.deleted_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_contact_list_update AFTER UPDATE OF name, description, metadata, column_schema, deleted_at ON contact_list
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.description IS NOT NEW.description OR OLD.metadata IS NOT NEW.metadata OR OLD.column_schema IS NOT NEW.column_schema OR OLD.deleted_at IS NOT NEW.deleted_at) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'contact_list', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'description', iif(length(OLD.description) <= 8000, OLD.description, length(OLD.description) || iif(1, ' characters', ' characters, changed')), 'metadata', iif(length(OLD.metadata) <= 8000, OLD.metadata, length(OLD.metadata) || iif(1, ' characters', ' characters, changed')), 'column_schema', iif(length(OLD.column_schema) <= 8000, OLD.column_schema, length(OLD.column_schema) || iif(1, ' characters', ' characters, changed')), 'deleted_at', OLD.deleted_at) AS old, json_object('name', NEW.name, 'description', iif(length(NEW.description) <= 8000, NEW.description, length(NEW.description) || iif(OLD.description IS NEW.description, ' characters', ' characters, changed')), 'metadata', iif(length(NEW.metadata) <= 8000, NEW.metadata, length(NEW.metadata) || iif(OLD.metadata IS NEW.metadata, ' characters', ' characters, changed')), 'column_schema', iif(length(NEW.column_schema) <= 8000, NEW.column_schema, length(NEW.column_schema) || iif(OLD.column_schema IS NEW.column_schema, ' characters', ' characters, changed')), 'deleted_at', NEW.deleted_at) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_contact_list_delete AFTER DELETE ON contact_list
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'contact_list', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'description', iif(length(OLD.description) <= 8000, OLD.description, length(OLD.description) || iif(1, ' characters', ' characters, changed')), 'metadata', iif(length(OLD.metadata) <= 8000, OLD.metadata, length(OLD.metadata) || iif(1, ' characters', ' characters, changed')), 'column_schema', iif(length(OLD.column_schema) <= 8000, OLD.column_schema, length(OLD.column_schema) || iif(1, ' characters', ' characters, changed')), 'deleted_at', OLD.deleted_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_suppression_insert AFTER INSERT ON suppression
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'suppression', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('phone', NEW.phone, 'reason', iif(length(NEW.reason) <= 8000, NEW.reason, length(NEW.reason) || iif(1, ' characters', ' characters, changed')), 'source', NEW.source, 'until', NEW.until, 'restored_at', NEW.restored_at, 'restore_reason', iif(length(NEW.restore_reason) <= 8000, NEW.restore_reason, length(NEW.restore_reason) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_suppression_update AFTER UPDATE OF phone, reason, source, until, restored_at, restore_reason ON suppression
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.phone IS NOT NEW.phone OR OLD.reason IS NOT NEW.reason OR OLD.source IS NOT NEW.source OR OLD.until IS NOT NEW.until OR OLD.restored_at IS NOT NEW.restored_at OR OLD.restore_reason IS NOT NEW.restore_reason) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'suppression', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('phone', OLD.phone, 'reason', iif(length(OLD.reason) <= 8000, OLD.reason, length(OLD.reason) || iif(1, ' characters', ' characters, changed')), 'source', OLD.source, 'until', OLD.until, 'restored_at', OLD.restored_at, 'restore_reason', iif(length(OLD.restore_reason) <= 8000, OLD.restore_reason, length(OLD.restore_reason) || iif(1, ' characters', ' characters, changed'))) AS old, json_object('phone', NEW.phone, 'reason', iif(length(NEW.reason) <= 8000, NEW.reason, length(NEW.reason) || iif(OLD.reason IS NEW.reason, ' characters', ' characters, changed')), 'source', NEW.source, 'until', NEW.until, 'restored_at', NEW.restored_at, 'restore_reason', iif(length(NEW.restore_reason) <= 8000, NEW.restore_reason, length(NEW.restore_reason) || iif(OLD.restore_reason IS NEW.restore_reason, ' characters', ' characters, changed'))) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_suppression_delete AFTER DELETE ON suppression
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'suppression', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('phone', OLD.phone, 'reason', iif(length(OLD.reason) <= 8000, OLD.reason, length(OLD.reason) || iif(1, ' characters', ' characters, changed')), 'source', OLD.source, 'until', OLD.until, 'restored_at', OLD.restored_at, 'restore_reason', iif(length(OLD.restore_reason) <= 8000, OLD.restore_reason, length(OLD.restore_reason) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_suppression_proposal_insert AFTER INSERT ON suppression_proposal
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'suppression_proposal', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('phone', NEW.phone, 'state', NEW.state)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_suppression_proposal_update AFTER UPDATE OF phone, state ON suppression_proposal
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.phone IS NOT NEW.phone OR OLD.state IS NOT NEW.state) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'suppression_proposal', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('phone', OLD.phone, 'state', OLD.state) AS old, json_object('phone', NEW.phone, 'state', NEW.state) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_suppression_proposal_delete AFTER DELETE ON suppression_proposal
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'suppression_proposal', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('phone', OLD.phone, 'state', OLD.state)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_contact_policy_insert AFTER INSERT ON contact_policy
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'contact_policy', NEW.organization_id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('policy', iif(length(NEW.policy) <= 8000, NEW.policy, length(NEW.policy) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_contact_policy_update AFTER UPDATE OF policy ON contact_policy
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.policy IS NOT NEW.policy) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'contact_policy', NEW.organization_id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('policy', iif(length(OLD.policy) <= 8000, OLD.policy, length(OLD.policy) || iif(1, ' characters', ' characters, changed'))) AS old, json_object('policy', iif(length(NEW.policy) <= 8000, NEW.policy, length(NEW.policy) || iif(OLD.policy IS NEW.policy, ' characters', ' characters, changed'))) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_contact_policy_delete AFTER DELETE ON contact_policy
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'contact_policy', OLD.organization_id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('policy', iif(length(OLD.policy) <= 8000, OLD.policy, length(OLD.policy) || iif(1, ' characters', ' characters, changed')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_telephony_config_insert AFTER INSERT ON telephony_config
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'telephony_config', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'provider', NEW.provider, 'credentials', iif(NEW.credentials IS NULL, NULL, iif(1, 'secret', 'new secret')), 'from_numbers', iif(length(NEW.from_numbers) <= 8000, NEW.from_numbers, length(NEW.from_numbers) || iif(1, ' characters', ' characters, changed')), 'inbound_agent_id', NEW.inbound_agent_id, 'is_default', NEW.is_default, 'calls_per_second', NEW.calls_per_second, 'machine_detection', NEW.machine_detection)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_telephony_config_update AFTER UPDATE OF name, provider, credentials, from_numbers, inbound_agent_id, is_default, calls_per_second, machine_detection ON telephony_config
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.provider IS NOT NEW.provider OR OLD.credentials IS NOT NEW.credentials OR OLD.from_numbers IS NOT NEW.from_numbers OR OLD.inbound_agent_id IS NOT NEW.inbound_agent_id OR OLD.is_default IS NOT NEW.is_default OR OLD.calls_per_second IS NOT NEW.calls_per_second OR OLD.machine_detection IS NOT NEW.machine_detection) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'telephony_config', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'provider', OLD.provider, 'credentials', iif(OLD.credentials IS NULL, NULL, iif(1, 'secret', 'new secret')), 'from_numbers', iif(length(OLD.from_numbers) <= 8000, OLD.from_numbers, length(OLD.from_numbers) || iif(1, ' characters', ' characters, changed')), 'inbound_agent_id', OLD.inbound_agent_id, 'is_default', OLD.is_default, 'calls_per_second', OLD.calls_per_second, 'machine_detection', OLD.machine_detection) AS old, json_object('name', NEW.name, 'provider', NEW.provider, 'credentials', iif(NEW.credentials IS NULL, NULL, iif(OLD.credentials IS NEW.credentials, 'secret', 'new secret')), 'from_numbers', iif(length(NEW.from_numbers) <= 8000, NEW.from_numbers, length(NEW.from_numbers) || iif(OLD.from_numbers IS NEW.from_numbers, ' characters', ' characters, changed')), 'inbound_agent_id', NEW.inbound_agent_id, 'is_default', NEW.is_default, 'calls_per_second', NEW.calls_per_second, 'machine_detection', NEW.machine_detection) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_telephony_config_delete AFTER DELETE ON telephony_config
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'telephony_config', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'provider', OLD.provider, 'credentials', iif(OLD.credentials IS NULL, NULL, iif(1, 'secret', 'new secret')), 'from_numbers', iif(length(OLD.from_numbers) <= 8000, OLD.from_numbers, length(OLD.from_numbers) || iif(1, ' characters', ' characters, changed')), 'inbound_agent_id', OLD.inbound_agent_id, 'is_default', OLD.is_default, 'calls_per_second', OLD.calls_per_second, 'machine_detection', OLD.machine_detection)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_language_model_insert AFTER INSERT ON language_model
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'language_model', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'provider', NEW.provider, 'base_url', NEW.base_url, 'model', NEW.model, 'api_key', iif(NEW.api_key IS NULL, NULL, iif(1, 'secret', 'new secret')), 'purposes', NEW.purposes, 'first_token_seconds', NEW.first_token_seconds, 'prompt_usd_per_million', NEW.prompt_usd_per_million, 'completion_usd_per_million', NEW.completion_usd_per_million)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_language_model_update AFTER UPDATE OF name, provider, base_url, model, api_key, purposes, first_token_seconds, prompt_usd_per_million, completion_usd_per_million ON language_model
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.provider IS NOT NEW.provider OR OLD.base_url IS NOT NEW.base_url OR OLD.model IS NOT NEW.model OR OLD.api_key IS NOT NEW.api_key OR OLD.purposes IS NOT NEW.purposes OR OLD.first_token_seconds IS NOT NEW.first_token_seconds OR OLD.prompt_usd_per_million IS NOT NEW.prompt_usd_per_million OR OLD.completion_usd_per_million IS NOT NEW.completion_usd_per_million) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'language_model', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'provider', OLD.provider, 'base_url', OLD.base_url, 'model', OLD.model, 'api_key', iif(OLD.api_key IS NULL, NULL, iif(1, 'secret', 'new secret')), 'purposes', OLD.purposes, 'first_token_seconds', OLD.first_token_seconds, 'prompt_usd_per_million', OLD.prompt_usd_per_million, 'completion_usd_per_million', OLD.completion_usd_per_million) AS old, json_object('name', NEW.name, 'provider', NEW.provider, 'base_url', NEW.base_url, 'model', NEW.model, 'api_key', iif(NEW.api_key IS NULL, NULL, iif(OLD.api_key IS NEW.api_key, 'secret', 'new secret')), 'purposes', NEW.purposes, 'first_token_seconds', NEW.first_token_seconds, 'prompt_usd_per_million', NEW.prompt_usd_per_million, 'completion_usd_per_million', NEW.completion_usd_per_million) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_language_model_delete AFTER DELETE ON language_model
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'language_model', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'provider', OLD.provider, 'base_url', OLD.base_url, 'model', OLD.model, 'api_key', iif(OLD.api_key IS NULL, NULL, iif(1, 'secret', 'new secret')), 'purposes', OLD.purposes, 'first_token_seconds', OLD.first_token_seconds, 'prompt_usd_per_million', OLD.prompt_usd_per_million, 'completion_usd_per_million', OLD.completion_usd_per_million)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_messaging_config_insert AFTER INSERT ON messaging_config
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'messaging_config', NEW.organization_id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('provider', NEW.provider, 'credentials', iif(NEW.credentials IS NULL, NULL, iif(1, 'secret', 'new secret')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_messaging_config_update AFTER UPDATE OF provider, credentials ON messaging_config
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.provider IS NOT NEW.provider OR OLD.credentials IS NOT NEW.credentials) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'messaging_config', NEW.organization_id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('provider', OLD.provider, 'credentials', iif(OLD.credentials IS NULL, NULL, iif(1, 'secret', 'new secret'))) AS old, json_object('provider', NEW.provider, 'credentials', iif(NEW.credentials IS NULL, NULL, iif(OLD.credentials IS NEW.credentials, 'secret', 'new secret'))) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_messaging_config_delete AFTER DELETE ON messaging_config
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'messaging_config', OLD.organization_id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('provider', OLD.provider, 'credentials', iif(OLD.credentials IS NULL, NULL, iif(1, 'secret', 'new secret')))) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_integration_insert AFTER INSERT ON integration
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'integration', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('provider', NEW.provider, 'account_label', NEW.account_label, 'is_active', NEW.is_active, 'action', NEW.action, 'provider_data', iif(length(NEW.provider_data) <= 8000, NEW.provider_data, length(NEW.provider_data) || iif(1, ' characters', ' characters, changed')), 'field_mapping', iif(length(NEW.field_mapping) <= 8000, NEW.field_mapping, length(NEW.field_mapping) || iif(1, ' characters', ' characters, changed')), 'disconnected_at', NEW.disconnected_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_integration_update AFTER UPDATE OF provider, account_label, is_active, action, provider_data, field_mapping, disconnected_at ON integration
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.provider IS NOT NEW.provider OR OLD.account_label IS NOT NEW.account_label OR OLD.is_active IS NOT NEW.is_active OR OLD.action IS NOT NEW.action OR OLD.provider_data IS NOT NEW.provider_data OR OLD.field_mapping IS NOT NEW.field_mapping OR OLD.disconnected_at IS NOT NEW.disconnected_at) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'integration', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('provider', OLD.provider, 'account_label', OLD.account_label, 'is_active', OLD.is_active, 'action', OLD.action, 'provider_data', iif(length(OLD.provider_data) <= 8000, OLD.provider_data, length(OLD.provider_data) || iif(1, ' characters', ' characters, changed')), 'field_mapping', iif(length(OLD.field_mapping) <= 8000, OLD.field_mapping, length(OLD.field_mapping) || iif(1, ' characters', ' characters, changed')), 'disconnected_at', OLD.disconnected_at) AS old, json_object('provider', NEW.provider, 'account_label', NEW.account_label, 'is_active', NEW.is_active, 'action', NEW.action, 'provider_data', iif(length(NEW.provider_data) <= 8000, NEW.provider_data, length(NEW.provider_data) || iif(OLD.provider_data IS NEW.provider_data, ' characters', ' characters, changed')), 'field_mapping', iif(length(NEW.field_mapping) <= 8000, NEW.field_mapping, length(NEW.field_mapping) || iif(OLD.field_mapping IS NEW.field_mapping, ' characters', ' characters, changed')), 'disconnected_at', NEW.disconnected_at) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_integration_delete AFTER DELETE ON integration
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'integration', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('provider', OLD.provider, 'account_label', OLD.account_label, 'is_active', OLD.is_active, 'action', OLD.action, 'provider_data', iif(length(OLD.provider_data) <= 8000, OLD.provider_data, length(OLD.provider_data) || iif(1, ' characters', ' characters, changed')), 'field_mapping', iif(length(OLD.field_mapping) <= 8000, OLD.field_mapping, length(OLD.field_mapping) || iif(1, ' characters', ' characters, changed')), 'disconnected_at', OLD.disconnected_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_knowledge_document_insert AFTER INSERT ON knowledge_document
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'document', NEW.uuid,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('filename', NEW.filename, 'encoding', NEW.encoding, 'status', NEW.status, 'is_active', NEW.is_active)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_knowledge_document_update AFTER UPDATE OF filename, encoding, status, is_active ON knowledge_document
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.filename IS NOT NEW.filename OR OLD.encoding IS NOT NEW.encoding OR OLD.status IS NOT NEW.status OR OLD.is_active IS NOT NEW.is_active) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'document', NEW.uuid,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('filename', OLD.filename, 'encoding', OLD.encoding, 'status', OLD.status, 'is_active', OLD.is_active) AS old, json_object('filename', NEW.filename, 'encoding', NEW.encoding, 'status', NEW.status, 'is_active', NEW.is_active) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_knowledge_document_delete AFTER DELETE ON knowledge_document
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'document', OLD.uuid,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('filename', OLD.filename, 'encoding', OLD.encoding, 'status', OLD.status, 'is_active', OLD.is_active)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_webhook_endpoint_insert AFTER INSERT ON webhook_endpoint
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'webhook_endpoint', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('url', iif(length(NEW.url) <= 8000, NEW.url, length(NEW.url) || iif(1, ' characters', ' characters, changed')), 'description', iif(length(NEW.description) <= 8000, NEW.description, length(NEW.description) || iif(1, ' characters', ' characters, changed')), 'events', iif(length(NEW.events) <= 8000, NEW.events, length(NEW.events) || iif(1, ' characters', ' characters, changed')), 'secret', iif(NEW.secret IS NULL, NULL, iif(1, 'secret', 'new secret')), 'previous_secret_until', NEW.previous_secret_until, 'status', NEW.status)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_webhook_endpoint_update AFTER UPDATE OF url, description, events, secret, previous_secret_until, status ON webhook_endpoint
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.url IS NOT NEW.url OR OLD.description IS NOT NEW.description OR OLD.events IS NOT NEW.events OR OLD.secret IS NOT NEW.secret OR OLD.previous_secret_until IS NOT NEW.previous_secret_until OR OLD.status IS NOT NEW.status) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'webhook_endpoint', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('url', iif(length(OLD.url) <= 8000, OLD.url, length(OLD.url) || iif(1, ' characters', ' characters, changed')), 'description', iif(length(OLD.description) <= 8000, OLD.description, length(OLD.description) || iif(1, ' characters', ' characters, changed')), 'events', iif(length(OLD.events) <= 8000, OLD.events, length(OLD.events) || iif(1, ' characters', ' characters, changed')), 'secret', iif(OLD.secret IS NULL, NULL, iif(1, 'secret', 'new secret')), 'previous_secret_until', OLD.previous_secret_until, 'status', OLD.status) AS old, json_object('url', iif(length(NEW.url) <= 8000, NEW.url, length(NEW.url) || iif(OLD.url IS NEW.url, ' characters', ' characters, changed')), 'description', iif(length(NEW.description) <= 8000, NEW.description, length(NEW.description) || iif(OLD.description IS NEW.description, ' characters', ' characters, changed')), 'events', iif(length(NEW.events) <= 8000, NEW.events, length(NEW.events) || iif(OLD.events IS NEW.events, ' characters', ' characters, changed')), 'secret', iif(NEW.secret IS NULL, NULL, iif(OLD.secret IS NEW.secret, 'secret', 'new secret')), 'previous_secret_until', NEW.previous_secret_until, 'status', NEW.status) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_webhook_endpoint_delete AFTER DELETE ON webhook_endpoint
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'webhook_endpoint', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('url', iif(length(OLD.url) <= 8000, OLD.url, length(OLD.url) || iif(1, ' characters', ' characters, changed')), 'description', iif(length(OLD.description) <= 8000, OLD.description, length(OLD.description) || iif(1, ' characters', ' characters, changed')), 'events', iif(length(OLD.events) <= 8000, OLD.events, length(OLD.events) || iif(1, ' characters', ' characters, changed')), 'secret', iif(OLD.secret IS NULL, NULL, iif(1, 'secret', 'new secret')), 'previous_secret_until', OLD.previous_secret_until, 'status', OLD.status)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_organization_insert AFTER INSERT ON organization
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'organization', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'default_country', NEW.default_country, 'timezone', NEW.timezone, 'min_hours_between_calls', NEW.min_hours_between_calls, 'deleting_at', NEW.deleting_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_organization_update AFTER UPDATE OF name, default_country, timezone, min_hours_between_calls, deleting_at ON organization
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.default_country IS NOT NEW.default_country OR OLD.timezone IS NOT NEW.timezone OR OLD.min_hours_between_calls IS NOT NEW.min_hours_between_calls OR OLD.deleting_at IS NOT NEW.deleting_at) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'organization', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'default_country', OLD.default_country, 'timezone', OLD.timezone, 'min_hours_between_calls', OLD.min_hours_between_calls, 'deleting_at', OLD.deleting_at) AS old, json_object('name', NEW.name, 'default_country', NEW.default_country, 'timezone', NEW.timezone, 'min_hours_between_calls', NEW.min_hours_between_calls, 'deleting_at', NEW.deleting_at) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_organization_delete AFTER DELETE ON organization
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'organization', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'default_country', OLD.default_country, 'timezone', OLD.timezone, 'min_hours_between_calls', OLD.min_hours_between_calls, 'deleting_at', OLD.deleting_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_membership_insert AFTER INSERT ON membership
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'member', NEW.user_id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('role', NEW.role)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_membership_update AFTER UPDATE OF role ON membership
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.role IS NOT NEW.role) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'member', NEW.user_id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('role', OLD.role) AS old, json_object('role', NEW.role) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_membership_delete AFTER DELETE ON membership
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'member', OLD.user_id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('role', OLD.role)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_invitation_insert AFTER INSERT ON invitation
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'invitation', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('email', NEW.email, 'role', NEW.role, 'expires_at', NEW.expires_at, 'accepted_by', NEW.accepted_by, 'revoked_at', NEW.revoked_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_invitation_update AFTER UPDATE OF email, role, expires_at, accepted_by, revoked_at ON invitation
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.email IS NOT NEW.email OR OLD.role IS NOT NEW.role OR OLD.expires_at IS NOT NEW.expires_at OR OLD.accepted_by IS NOT NEW.accepted_by OR OLD.revoked_at IS NOT NEW.revoked_at) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'invitation', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('email', OLD.email, 'role', OLD.role, 'expires_at', OLD.expires_at, 'accepted_by', OLD.accepted_by, 'revoked_at', OLD.revoked_at) AS old, json_object('email', NEW.email, 'role', NEW.role, 'expires_at', NEW.expires_at, 'accepted_by', NEW.accepted_by, 'revoked_at', NEW.revoked_at) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_invitation_delete AFTER DELETE ON invitation
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'invitation', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('email', OLD.email, 'role', OLD.role, 'expires_at', OLD.expires_at, 'accepted_by', OLD.accepted_by, 'revoked_at', OLD.revoked_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_api_key_insert AFTER INSERT ON api_key
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'api_key', NEW.id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('name', NEW.name, 'key_prefix', NEW.key_prefix, 'scopes', NEW.scopes, 'expires_at', NEW.expires_at, 'archived_at', NEW.archived_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_api_key_update AFTER UPDATE OF name, key_prefix, scopes, expires_at, archived_at ON api_key
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND (OLD.name IS NOT NEW.name OR OLD.key_prefix IS NOT NEW.key_prefix OR OLD.scopes IS NOT NEW.scopes OR OLD.expires_at IS NOT NEW.expires_at OR OLD.archived_at IS NOT NEW.archived_at) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'api_key', NEW.id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('name', OLD.name, 'key_prefix', OLD.key_prefix, 'scopes', OLD.scopes, 'expires_at', OLD.expires_at, 'archived_at', OLD.archived_at) AS old, json_object('name', NEW.name, 'key_prefix', NEW.key_prefix, 'scopes', NEW.scopes, 'expires_at', NEW.expires_at, 'archived_at', NEW.archived_at) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_api_key_delete AFTER DELETE ON api_key
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'api_key', OLD.id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('name', OLD.name, 'key_prefix', OLD.key_prefix, 'scopes', OLD.scopes, 'expires_at', OLD.expires_at, 'archived_at', OLD.archived_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_password_reset_insert AFTER INSERT ON password_reset
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND NEW.organization_id <> 0 BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'password_reset', NEW.user_id,
    (SELECT json_group_object(v.key, json_object('after', v.value)) FROM json_each(json_object('token_hash', iif(NEW.token_hash IS NULL, NULL, iif(1, 'secret', 'new secret')), 'expires_at', NEW.expires_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_password_reset_update AFTER UPDATE OF token_hash, expires_at ON password_reset
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND NEW.organization_id <> 0 AND (OLD.token_hash IS NOT NEW.token_hash OR OLD.expires_at IS NOT NEW.expires_at) BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT NEW.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'password_reset', NEW.user_id,
    (SELECT json_group_object(n.key, json_object('before', v.old ->> n.key, 'after', n.value))
      FROM (SELECT json_object('token_hash', iif(OLD.token_hash IS NULL, NULL, iif(1, 'secret', 'new secret')), 'expires_at', OLD.expires_at) AS old, json_object('token_hash', iif(NEW.token_hash IS NULL, NULL, iif(OLD.token_hash IS NEW.token_hash, 'secret', 'new secret')), 'expires_at', NEW.expires_at) AS new) v CROSS JOIN json_each(v.new) n
      WHERE n.value IS NOT v.old ->> n.key), actor.at
  FROM audit_actor actor;
END;
--> statement-breakpoint
CREATE TRIGGER audit_password_reset_delete AFTER DELETE ON password_reset
WHEN EXISTS (SELECT 1 FROM audit_actor WHERE is_summary = 0) AND OLD.organization_id <> 0 BEGIN
  INSERT INTO account_audit_entry (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT OLD.organization_id, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, 'password_reset', OLD.user_id,
    (SELECT json_group_object(v.key, json_object('before', v.value)) FROM json_each(json_object('token_hash', iif(OLD.token_hash IS NULL, NULL, iif(1, 'secret', 'new secret')), 'expires_at', OLD.expires_at)) v WHERE v.value IS NOT NULL), actor.at
  FROM audit_actor actor;
END;
