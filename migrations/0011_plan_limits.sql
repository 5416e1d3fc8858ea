ALTER TABLE `organization` ADD `plan_limits` text;--> statement-breakpoint
CREATE INDEX `api_key_live` ON `api_key` (`organization_id`) WHERE archived_at IS NULL;--> statement-breakpoint
CREATE INDEX `automation_trigger_live` ON `automation_trigger` (`organization_id`,`type`) WHERE state <> 'archived';