CREATE TABLE `connection_request` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`provider` text NOT NULL,
	`connection_params` text NOT NULL,
	`redirect_url` text,
	`created_by` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connection_request_provider` ON `connection_request` (`organization_id`,`provider`);--> statement-breakpoint
CREATE INDEX `connection_request_expiry` ON `connection_request` (`expires_at`);--> statement-breakpoint
CREATE TABLE `integration` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`provider` text NOT NULL,
	`account_id` text NOT NULL,
	`account_label` text,
	`created_by` integer NOT NULL,
	`is_active` integer NOT NULL,
	`action` text NOT NULL,
	`connection_params` text NOT NULL,
	`provider_data` text NOT NULL,
	`field_mapping` text NOT NULL,
	`last_error` text,
	`last_synced_at` integer,
	`next_sync_at` integer,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`disconnected_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `integration_current` ON `integration` (`organization_id`,`provider`) WHERE disconnected_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `integration_account` ON `integration` (`account_id`);--> statement-breakpoint
CREATE INDEX `integration_due` ON `integration` (`next_sync_at`) WHERE next_sync_at IS NOT NULL AND is_active = 1;--> statement-breakpoint
CREATE TABLE `integration_contact` (
	`integration_id` integer NOT NULL,
	`external_id` text NOT NULL,
	`organization_id` integer NOT NULL,
	`contact_id` integer NOT NULL,
	`seen_hash` text NOT NULL,
	`seen` text NOT NULL,
	`seen_in` integer,
	`pushed_at` integer,
	PRIMARY KEY(`integration_id`, `external_id`)
);
--> statement-breakpoint
CREATE INDEX `integration_contact_contact` ON `integration_contact` (`contact_id`,`integration_id`);--> statement-breakpoint
CREATE TABLE `integration_sync` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`integration_id` integer NOT NULL,
	`status` text NOT NULL,
	`lease_until` integer,
	`checkpoint` text,
	`changed_since` integer,
	`pages` integer DEFAULT 0 NOT NULL,
	`rows_seen` integer DEFAULT 0 NOT NULL,
	`created` integer DEFAULT 0 NOT NULL,
	`updated` integer DEFAULT 0 NOT NULL,
	`unchanged` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`errors` text NOT NULL,
	`reason` text,
	`started_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `integration_sync_running` ON `integration_sync` (`integration_id`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `integration_sync_integration` ON `integration_sync` (`integration_id`);--> statement-breakpoint
CREATE INDEX `integration_sync_lease` ON `integration_sync` (`lease_until`) WHERE status = 'running';--> statement-breakpoint
CREATE TABLE `message` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`send_key` text NOT NULL,
	`provider` text NOT NULL,
	`kind` text NOT NULL,
	`recipient` text NOT NULL,
	`contact_id` integer,
	`template_name` text,
	`language` text,
	`status` text NOT NULL,
	`status_rank` integer NOT NULL,
	`error` text,
	`failure_class` text,
	`failure_code` text,
	`message_id` text,
	`automation_run_id` integer,
	`history` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `message_send_key` ON `message` (`organization_id`,`send_key`);--> statement-breakpoint
CREATE INDEX `message_organization` ON `message` (`organization_id`);--> statement-breakpoint
CREATE INDEX `message_provider` ON `message` (`organization_id`,`provider`);--> statement-breakpoint
CREATE INDEX `message_contact` ON `message` (`contact_id`) WHERE contact_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `message_provider_id` ON `message` (`organization_id`,`message_id`) WHERE message_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `message_status` ON `message` (`organization_id`,`status`);--> statement-breakpoint
CREATE INDEX `message_recipient` ON `message` (`organization_id`,`recipient`);--> statement-breakpoint
CREATE INDEX `message_run` ON `message` (`automation_run_id`) WHERE automation_run_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `messaging_config` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`credentials` text NOT NULL,
	`callback_origin` text NOT NULL,
	`revision` integer NOT NULL,
	`updated_at` integer NOT NULL
);
