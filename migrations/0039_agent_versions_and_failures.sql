ALTER TABLE `voice_agent_definition` ADD `template_context_variables` text;--> statement-breakpoint
ALTER TABLE `voice_agent_definition` ADD `call_disposition_codes` text;--> statement-breakpoint
ALTER TABLE `voice_agent_definition` ADD `workflow_configurations` text;--> statement-breakpoint
CREATE INDEX `voice_agent_definition_without_settings` ON `voice_agent_definition` (`agent_id`) WHERE workflow_configurations IS NULL;
--> statement-breakpoint
CREATE TABLE `affected_run` (
	`organization_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`effect` text NOT NULL,
	`run_id` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `event_id`, `effect`, `run_id`)
) WITHOUT ROWID;
--> statement-breakpoint
-- Written by hand: the runs that an event has affected leave with it.
CREATE TRIGGER affected_run_event_delete AFTER DELETE ON event BEGIN
  DELETE FROM affected_run WHERE organization_id = OLD.organization_id AND event_id = OLD.id;
END;
--> statement-breakpoint
CREATE TRIGGER webhook_trigger_failed AFTER UPDATE OF last_error ON automation_trigger
WHEN NEW.last_error IS NOT NULL AND OLD.last_error IS NULL AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'trigger.failed', 'trigger:' || NEW.id,
    json_object('trigger_id', NEW.id, 'automation_workflow_id', NEW.workflow_id, 'name', NEW.name, 'trigger_type', NEW.type),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_event_given_up AFTER UPDATE OF note ON event
WHEN substr(NEW.note, 1, 9) = 'given_up:' AND substr(coalesce(OLD.note, ''), 1, 9) <> 'given_up:' AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'record.given_up', 'event:' || NEW.id,
    json_object('kind', 'event', 'record_id', CAST(NEW.id AS TEXT)),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_webhook_delivery_given_up AFTER UPDATE OF note ON webhook_delivery
WHEN substr(NEW.note, 1, 9) = 'given_up:' AND substr(coalesce(OLD.note, ''), 1, 9) <> 'given_up:' AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'record.given_up', 'delivery:' || NEW.id,
    json_object('kind', 'delivery', 'record_id', CAST(NEW.id AS TEXT)),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_cleanup_given_up AFTER UPDATE OF note ON cleanup
WHEN NEW.note IS NOT NULL AND OLD.note IS NULL AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'record.given_up', 'cleanup:' || NEW.id,
    json_object('kind', 'cleanup', 'record_id', CAST(NEW.id AS TEXT)),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
CREATE TRIGGER webhook_schedule_fire_given_up AFTER UPDATE OF note ON schedule_fire
WHEN substr(NEW.note, 1, 9) = 'given_up:' AND substr(coalesce(OLD.note, ''), 1, 9) <> 'given_up:' AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, 'record.given_up', 'schedule_fire:' || NEW.trigger_id || ':' || NEW.scheduled_at,
    json_object('kind', 'schedule_fire', 'record_id', CAST(NEW.trigger_id || ':' || NEW.scheduled_at AS TEXT)),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
