CREATE TABLE `campaign` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`agent_id` integer NOT NULL,
	`state` text NOT NULL,
	`state_reason` text,
	`source_type` text NOT NULL,
	`source_id` text NOT NULL,
	`source_options` text NOT NULL,
	`max_concurrency` integer NOT NULL,
	`retry_config` text NOT NULL,
	`schedule_config` text NOT NULL,
	`circuit_breaker` text NOT NULL,
	`total_rows` integer DEFAULT 0 NOT NULL,
	`completed_rows` integer DEFAULT 0 NOT NULL,
	`failed_rows` integer DEFAULT 0 NOT NULL,
	`skipped_rows` integer DEFAULT 0 NOT NULL,
	`in_flight` integer DEFAULT 0 NOT NULL,
	`revision` integer DEFAULT 0 NOT NULL,
	`wake_at` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `campaign_organization` ON `campaign` (`organization_id`);--> statement-breakpoint
CREATE INDEX `campaign_live` ON `campaign` (`organization_id`,`agent_id`) WHERE state IN ('syncing', 'running', 'paused');--> statement-breakpoint
CREATE INDEX `campaign_wake` ON `campaign` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `call_slots` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`wake_at` integer
);
--> statement-breakpoint
CREATE INDEX `call_slots_wake` ON `call_slots` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `suppression` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`phone` text NOT NULL,
	`reason` text NOT NULL,
	`until` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppression_phone` ON `suppression` (`organization_id`,`phone`);--> statement-breakpoint
CREATE INDEX `suppression_organization` ON `suppression` (`organization_id`);--> statement-breakpoint
CREATE TABLE `telephony_config` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`provider` text NOT NULL,
	`credentials` text NOT NULL,
	`from_numbers` text NOT NULL,
	`inbound_agent_id` integer,
	`is_default` integer NOT NULL,
	`calls_per_second` integer NOT NULL,
	`machine_detection` integer NOT NULL,
	`callback_origin` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `telephony_config_organization` ON `telephony_config` (`organization_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `telephony_config_default` ON `telephony_config` (`organization_id`) WHERE is_default = 1;--> statement-breakpoint
CREATE TABLE `voice_agent` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`current_definition_id` integer NOT NULL,
	`template_context_variables` text NOT NULL,
	`call_disposition_codes` text NOT NULL,
	`workflow_configurations` text NOT NULL,
	`total_runs` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `voice_agent_organization` ON `voice_agent` (`organization_id`,`status`);--> statement-breakpoint
CREATE TABLE `voice_agent_definition` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`agent_id` integer NOT NULL,
	`definition` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `voice_agent_definition_agent` ON `voice_agent_definition` (`agent_id`);--> statement-breakpoint
CREATE TABLE `voice_agent_run` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`agent_id` integer NOT NULL,
	`definition_id` integer NOT NULL,
	`name` text NOT NULL,
	`mode` text NOT NULL,
	`call_type` text NOT NULL,
	`attempt_key` text NOT NULL,
	`phone` text,
	`own_number` text,
	`contact_id` integer,
	`campaign_id` integer,
	`automation_run_id` integer,
	`outcome` text,
	`reason` text,
	`disposition` text,
	`is_completed` integer DEFAULT false NOT NULL,
	`initial_context` text NOT NULL,
	`result` text,
	`has_transcript` integer DEFAULT false NOT NULL,
	`recording_type` text,
	`revision` integer DEFAULT 0 NOT NULL,
	`wake_at` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `voice_agent_run_attempt` ON `voice_agent_run` (`organization_id`,`attempt_key`);--> statement-breakpoint
CREATE INDEX `voice_agent_run_agent` ON `voice_agent_run` (`agent_id`);--> statement-breakpoint
CREATE INDEX `voice_agent_run_open` ON `voice_agent_run` (`agent_id`) WHERE is_completed = 0;--> statement-breakpoint
CREATE INDEX `voice_agent_run_contact` ON `voice_agent_run` (`contact_id`) WHERE contact_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `voice_agent_run_wake` ON `voice_agent_run` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `organization` ADD `min_hours_between_calls` real DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_run` ADD `voice_call_run_id` integer;--> statement-breakpoint
CREATE TRIGGER voice_agent_run_counted AFTER INSERT ON voice_agent_run BEGIN
  UPDATE voice_agent SET total_runs = total_runs + 1 WHERE id = NEW.agent_id;
END;
