CREATE TABLE `api_key` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`created_by` integer NOT NULL,
	`name` text NOT NULL,
	`key_prefix` text NOT NULL,
	`key_hash` text NOT NULL,
	`scopes` text NOT NULL,
	`expires_at` integer,
	`archived_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_key_hash` ON `api_key` (`key_hash`);--> statement-breakpoint
CREATE INDEX `api_key_organization` ON `api_key` (`organization_id`);--> statement-breakpoint
CREATE TABLE `login_failure` (
	`subject` text PRIMARY KEY NOT NULL,
	`failures` integer NOT NULL,
	`window_ends_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `login_failure_end` ON `login_failure` (`window_ends_at`);--> statement-breakpoint
CREATE TABLE `membership` (
	`user_id` integer NOT NULL,
	`organization_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `organization_id`)
);
--> statement-breakpoint
CREATE TABLE `organization` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`shard` integer DEFAULT 0 NOT NULL,
	`default_country` text DEFAULT 'US' NOT NULL,
	`timezone` text DEFAULT 'UTC' NOT NULL,
	`plan_max_integrations` integer,
	`plan_max_contacts` integer,
	`plan_concurrent_calls` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `session` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`organization_id` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `session_expiry` ON `session` (`expires_at`);--> statement-breakpoint
CREATE TABLE `user` (
	`id` integer PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`password_hash` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_email` ON `user` (`email`);--> statement-breakpoint
CREATE TABLE `automation_run` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`workflow_id` integer NOT NULL,
	`workflow_version` integer NOT NULL,
	`trigger_id` integer,
	`contact_id` integer,
	`state` text NOT NULL,
	`current_node_id` text,
	`outcome` text,
	`error` text,
	`dedup_key` text NOT NULL,
	`entry_key` text,
	`is_test` integer DEFAULT false NOT NULL,
	`depth` integer DEFAULT 0 NOT NULL,
	`source` text NOT NULL,
	`source_id` integer,
	`initial_context` text,
	`context_changes` text,
	`revision` integer DEFAULT 0 NOT NULL,
	`wake_at` integer,
	`started_at` integer,
	`completed_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `automation_run_dedup` ON `automation_run` (`organization_id`,`dedup_key`);--> statement-breakpoint
CREATE INDEX `automation_run_organization` ON `automation_run` (`organization_id`,`is_test`);--> statement-breakpoint
CREATE INDEX `automation_run_workflow` ON `automation_run` (`workflow_id`,`is_test`);--> statement-breakpoint
CREATE INDEX `automation_run_state` ON `automation_run` (`organization_id`,`state`) WHERE state <> 'completed';--> statement-breakpoint
CREATE INDEX `automation_run_workflow_state` ON `automation_run` (`workflow_id`,`state`) WHERE state <> 'completed';--> statement-breakpoint
CREATE INDEX `automation_run_trigger` ON `automation_run` (`trigger_id`) WHERE trigger_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `automation_run_contact` ON `automation_run` (`contact_id`) WHERE contact_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `automation_run_wake` ON `automation_run` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `automation_trigger` (
	`id` integer PRIMARY KEY NOT NULL,
	`uuid` text NOT NULL,
	`organization_id` integer NOT NULL,
	`workflow_id` integer NOT NULL,
	`type` text NOT NULL,
	`name` text NOT NULL,
	`config` text NOT NULL,
	`state` text NOT NULL,
	`is_primary` integer DEFAULT false NOT NULL,
	`next_fire_at` integer,
	`last_fired_at` integer,
	`fire_count` integer DEFAULT 0 NOT NULL,
	`last_error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `automation_trigger_uuid` ON `automation_trigger` (`uuid`);--> statement-breakpoint
CREATE INDEX `automation_trigger_workflow` ON `automation_trigger` (`workflow_id`);--> statement-breakpoint
CREATE INDEX `automation_trigger_due` ON `automation_trigger` (`next_fire_at`) WHERE next_fire_at IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `automation_trigger_primary` ON `automation_trigger` (`workflow_id`) WHERE is_primary = 1 AND state <> 'archived';--> statement-breakpoint
CREATE TABLE `automation_version` (
	`workflow_id` integer NOT NULL,
	`version` integer NOT NULL,
	`organization_id` integer NOT NULL,
	`definition` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`workflow_id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `automation_workflow` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`version` integer NOT NULL,
	`status` text NOT NULL,
	`definition` text NOT NULL,
	`trigger` text NOT NULL,
	`context_schema` text NOT NULL,
	`settings` text NOT NULL,
	`runs_count` integer DEFAULT 0 NOT NULL,
	`active_runs_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE INDEX `automation_workflow_organization` ON `automation_workflow` (`organization_id`,`status`);--> statement-breakpoint
CREATE TABLE `schedule_fire` (
	`trigger_id` integer NOT NULL,
	`scheduled_at` integer NOT NULL,
	`organization_id` integer NOT NULL,
	`cursor` integer DEFAULT 0 NOT NULL,
	`handled_at` integer,
	`note` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`trigger_id`, `scheduled_at`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `schedule_fire_open` ON `schedule_fire` (`created_at`) WHERE handled_at IS NULL;--> statement-breakpoint
CREATE TABLE `trigger_topic` (
	`organization_id` integer NOT NULL,
	`topic` text NOT NULL,
	`trigger_id` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `topic`, `trigger_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `trigger_topic_trigger` ON `trigger_topic` (`trigger_id`);--> statement-breakpoint
CREATE TABLE `webhook_delivery` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`trigger_id` integer NOT NULL,
	`delivery_id` text,
	`contact_id` integer,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL,
	`handled_at` integer,
	`note` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_delivery_id` ON `webhook_delivery` (`trigger_id`,`delivery_id`) WHERE delivery_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `contact` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`external_id` text,
	`phone` text,
	`email` text,
	`first_name` text,
	`last_name` text,
	`company` text,
	`title` text,
	`tags` text NOT NULL,
	`custom_fields` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`depth` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contact_phone` ON `contact` (`organization_id`,`phone`) WHERE phone IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `contact_external_id` ON `contact` (`organization_id`,`external_id`) WHERE external_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `contact_created` ON `contact` (`organization_id`,`created_at`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `contact_updated` ON `contact` (`organization_id`,`updated_at`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `contact_last_name` ON `contact` (`organization_id`,`last_name`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `contact_email` ON `contact` (`organization_id`,lower(email)) WHERE email IS NOT NULL;--> statement-breakpoint
CREATE TABLE `contact_change` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`contact_id` integer NOT NULL,
	`before` text,
	`depth` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contact_change_organization` ON `contact_change` (`organization_id`);--> statement-breakpoint
CREATE INDEX `contact_change_contact` ON `contact_change` (`contact_id`);--> statement-breakpoint
CREATE TABLE `contact_list` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text COLLATE NOCASE NOT NULL,
	`description` text,
	`metadata` text NOT NULL,
	`column_schema` text NOT NULL,
	`contacts_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contact_list_name` ON `contact_list` (`organization_id`,`name`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE TABLE `contact_list_member` (
	`list_id` integer NOT NULL,
	`contact_id` integer NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`list_id`, `contact_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `contact_list_member_contact` ON `contact_list_member` (`contact_id`);--> statement-breakpoint
CREATE TABLE `custom_field_key` (
	`organization_id` integer NOT NULL,
	`key` text NOT NULL,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `organization_usage` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`contacts_count` integer DEFAULT 0 NOT NULL,
	`events_count` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`event_type` text NOT NULL,
	`phone` text,
	`contact_id` integer,
	`data` text NOT NULL,
	`sender_id` text,
	`depth` integer DEFAULT 0 NOT NULL,
	`occurred_at` integer,
	`created_at` integer NOT NULL,
	`handled_at` integer,
	`note` text
);
--> statement-breakpoint
CREATE INDEX `event_organization` ON `event` (`organization_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `event_organization_type` ON `event` (`organization_id`,`event_type`,`created_at`);--> statement-breakpoint
CREATE INDEX `event_phone` ON `event` (`organization_id`,`phone`,`created_at`) WHERE phone IS NOT NULL;--> statement-breakpoint
CREATE INDEX `event_contact` ON `event` (`contact_id`,`created_at`) WHERE contact_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `event_sender_id` ON `event` (`organization_id`,`sender_id`) WHERE sender_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `event_type` (
	`organization_id` integer NOT NULL,
	`event_type` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `event_type`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `cleanup` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`kind` text NOT NULL,
	`subject_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`note` text
);
--> statement-breakpoint
CREATE TABLE `idempotency_key` (
	`organization_id` integer NOT NULL,
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`status` integer,
	`body` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `scope`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_key_age` ON `idempotency_key` (`created_at`);--> statement-breakpoint
CREATE TABLE `progress` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
);
