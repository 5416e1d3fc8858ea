CREATE TABLE `webhook_endpoint` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`url` text NOT NULL,
	`description` text NOT NULL,
	`events` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_until` integer,
	`status` text NOT NULL,
	`disabled_reason` text,
	`disabled_at` integer,
	`failing_since` integer,
	`last_failure_at` integer,
	`hold_until` integer,
	`wake_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoint_organization` ON `webhook_endpoint` (`organization_id`);--> statement-breakpoint
CREATE INDEX `webhook_endpoint_wake` ON `webhook_endpoint` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `webhook_message` (
	`organization_id` integer NOT NULL,
	`endpoint_id` integer NOT NULL,
	`sequence` integer NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`subject` text NOT NULL,
	`data` text NOT NULL,
	`status` text NOT NULL,
	`due_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`attempts` text DEFAULT '[]' NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	PRIMARY KEY(`organization_id`, `endpoint_id`, `sequence`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhook_message_due` ON `webhook_message` (`organization_id`,`endpoint_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_message_pending` ON `webhook_message` (`organization_id`,`endpoint_id`,`subject`) WHERE status = 'pending';--> statement-breakpoint
-- An event for webhook endpoints is inserted into this view, which has no rows: the trigger below makes a message of it for each endpoint
-- that wants it, in the transaction of the change that it tells of.
CREATE VIEW webhook_event AS SELECT 0 AS organization_id, '' AS type, '' AS subject, '' AS data, '' AS event_id, 0 AS created_at WHERE 0;
--> statement-breakpoint
CREATE TRIGGER webhook_event_recorded INSTEAD OF INSERT ON webhook_event BEGIN
  INSERT INTO webhook_message (organization_id, endpoint_id, sequence, event_id, type, subject, data, status, due_at, tries, attempts, created_at)
  SELECT NEW.organization_id, e.id,
    max(NEW.created_at, coalesce((
      SELECT max(m.sequence) FROM webhook_message m WHERE m.organization_id = NEW.organization_id AND m.endpoint_id = e.id
    ), 0) + 1),
    NEW.event_id, NEW.type, NEW.subject, NEW.data, 'pending', NEW.created_at, 0, '[]', NEW.created_at
  FROM webhook_endpoint e
  WHERE e.organization_id = NEW.organization_id AND e.status IN ('active', 'paused')
    AND (e.events IS NULL OR EXISTS (SELECT 1 FROM json_each(e.events) wanted WHERE wanted.value = NEW.type));
  UPDATE webhook_endpoint SET wake_at = NEW.created_at
  WHERE organization_id = NEW.organization_id AND status IN ('active', 'paused') AND (wake_at IS NULL OR wake_at > NEW.created_at)
    AND (events IS NULL OR EXISTS (SELECT 1 FROM json_each(events) wanted WHERE wanted.value = NEW.type));
END;
--> statement-breakpoint
CREATE TRIGGER webhook_call_ended AFTER UPDATE OF is_completed ON voice_agent_run
WHEN NEW.is_completed = 1 AND OLD.is_completed = 0 AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, iif(NEW.mode = 'textchat', 'chat.completed', 'call.completed'), 'call:' || NEW.id,
    json_object(
      'run_id', NEW.id, 'workflow_id', NEW.agent_id, 'contact_id', NEW.contact_id, 'campaign_id', NEW.campaign_id,
      'automation_run_id', NEW.automation_run_id, 'call_type', NEW.call_type, 'mode', NEW.mode, 'outcome', NEW.outcome, 'reason', NEW.reason,
      'disposition', NEW.disposition, 'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_campaign_changed AFTER UPDATE OF state ON campaign
WHEN NEW.state <> OLD.state AND NEW.state IN ('paused', 'completed', 'failed', 'cancelled')
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'campaign.' || NEW.state, 'campaign:' || NEW.id,
    json_object(
      'campaign_id', NEW.id, 'workflow_id', NEW.agent_id, 'name', NEW.name, 'state', NEW.state, 'state_reason', NEW.state_reason,
      'total_rows', NEW.total_rows, 'completed_rows', NEW.completed_rows, 'failed_rows', NEW.failed_rows, 'skipped_rows', NEW.skipped_rows,
      'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_run_ended AFTER UPDATE OF state ON automation_run
WHEN NEW.state <> OLD.state AND NEW.state IN ('completed', 'failed', 'cancelled') AND NEW.is_test = 0
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'run.' || NEW.state, 'run:' || NEW.id,
    json_object(
      'run_id', NEW.id, 'automation_workflow_id', NEW.workflow_id, 'workflow_version', NEW.workflow_version, 'trigger_id', NEW.trigger_id,
      'contact_id', NEW.contact_id, 'state', NEW.state, 'outcome', NEW.outcome,
      'error_type', iif(json_valid(NEW.error), NEW.error ->> '$.type', NULL), 'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_run_refused AFTER INSERT ON automation_run
WHEN NEW.state IN ('failed', 'cancelled') AND NEW.is_test = 0
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'run.' || NEW.state, 'run:' || NEW.id,
    json_object(
      'run_id', NEW.id, 'automation_workflow_id', NEW.workflow_id, 'workflow_version', NEW.workflow_version, 'trigger_id', NEW.trigger_id,
      'contact_id', NEW.contact_id, 'state', NEW.state, 'outcome', NEW.outcome,
      'error_type', iif(json_valid(NEW.error), NEW.error ->> '$.type', NULL), 'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_message_failed AFTER UPDATE OF status ON message
WHEN NEW.status = 'failed' AND OLD.status <> 'failed' AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'message.failed', 'message:' || NEW.id,
    json_object(
      'message_id', NEW.id, 'provider', NEW.provider, 'provider_message_id', NEW.message_id, 'kind', NEW.kind,
      'template_name', NEW.template_name, 'contact_id', NEW.contact_id, 'automation_run_id', NEW.automation_run_id, 'failure_class', NEW.failure_class, 'failure_code', NEW.failure_code
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_message_refused AFTER INSERT ON message
WHEN NEW.status = 'failed' AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'message.failed', 'message:' || NEW.id,
    json_object(
      'message_id', NEW.id, 'provider', NEW.provider, 'provider_message_id', NEW.message_id, 'kind', NEW.kind,
      'template_name', NEW.template_name, 'contact_id', NEW.contact_id, 'automation_run_id', NEW.automation_run_id, 'failure_class', NEW.failure_class, 'failure_code', NEW.failure_code
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_document_ended AFTER UPDATE OF status ON knowledge_document
WHEN NEW.status <> OLD.status AND NEW.status IN ('completed', 'failed') AND NEW.is_active = 1
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'document.' || NEW.status, 'document:' || NEW.id,
    json_object(
      'document_uuid', NEW.uuid, 'filename', NEW.filename, 'mime_type', NEW.mime_type, 'file_size_bytes', NEW.size_bytes,
      'total_chunks', NEW.total_chunks, 'processing_error', NEW.error
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_integration_disconnected AFTER UPDATE OF is_active ON integration
WHEN NEW.is_active = 0 AND OLD.is_active = 1 AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'integration.disconnected', 'integration:' || NEW.id,
    json_object(
      'integration_id', NEW.account_id, 'provider', NEW.provider, 'reason', iif(NEW.disconnected_at IS NULL, NEW.last_error, NULL),
      'disconnected_at', NEW.disconnected_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_sync_failed AFTER UPDATE OF status ON integration_sync
WHEN NEW.status = 'failed' AND OLD.status <> 'failed' AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at)
  SELECT NEW.organization_id, 'integration.sync_failed', 'integration:' || NEW.integration_id,
    json_object('integration_id', i.account_id, 'provider', i.provider, 'sync_id', NEW.id, 'reason', NEW.reason),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  FROM integration i WHERE i.id = NEW.integration_id AND i.organization_id = NEW.organization_id;
END;
--> statement-breakpoint
CREATE TRIGGER webhook_test_ended AFTER UPDATE OF status ON test_session
WHEN NEW.status <> OLD.status AND NEW.status IN ('completed', 'failed', 'stopped')
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, iif(NEW.status = 'failed', 'test.failed', 'test.completed'), 'test:' || NEW.id,
    json_object(
      'test_session_id', NEW.id, 'name', NEW.name, 'load_test_id', NEW.load_test_id, 'actor_workflow_id', NEW.actor_agent_id,
      'adversary_workflow_id', NEW.adversary_agent_id, 'status', NEW.status, 'outcome', NEW.results ->> '$.outcome', 'error', NEW.error,
      'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_load_test_ended AFTER UPDATE OF completed_at ON load_test
WHEN OLD.completed_at IS NULL AND NEW.completed_at IS NOT NULL
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'load_test.completed', 'load_test:' || NEW.id,
    json_object(
      'load_test_id', NEW.id, 'name', NEW.name, 'actor_workflow_id', NEW.actor_agent_id, 'adversary_workflow_id', NEW.adversary_agent_id,
      'status', NEW.status, 'test_count', NEW.test_count, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_suppression_added AFTER INSERT ON suppression
WHEN EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'suppression.added', 'suppression:' || NEW.phone,
    json_object('suppression_id', NEW.id, 'phone', NEW.phone, 'reason', NEW.reason, 'source', NEW.source, 'until_at', NEW.until),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_suppression_renewed AFTER UPDATE OF created_at ON suppression
WHEN NEW.created_at <> OLD.created_at AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'suppression.added', 'suppression:' || NEW.phone,
    json_object('suppression_id', NEW.id, 'phone', NEW.phone, 'reason', NEW.reason, 'source', NEW.source, 'until_at', NEW.until),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_endpoint_disabled AFTER UPDATE OF status ON webhook_endpoint
WHEN NEW.status = 'disabled' AND OLD.status <> 'disabled' BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'webhook_endpoint.disabled', 'webhook_endpoint:' || NEW.id,
    json_object('webhook_endpoint_id', NEW.id, 'reason', NEW.disabled_reason, 'disabled_at', NEW.disabled_at),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
