CREATE TABLE `load_test` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`actor_agent_id` integer NOT NULL,
	`adversary_agent_id` integer NOT NULL,
	`test_count` integer NOT NULL,
	`concurrency` integer NOT NULL,
	`ramp_seconds` integer NOT NULL,
	`config` text NOT NULL,
	`statistics` text,
	`revision` integer DEFAULT 0 NOT NULL,
	`wake_at` integer,
	`created_at` integer NOT NULL,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `load_test_organization` ON `load_test` (`organization_id`);--> statement-breakpoint
CREATE INDEX `load_test_wake` ON `load_test` (`wake_at`) WHERE wake_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `test_session` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`actor_agent_id` integer NOT NULL,
	`adversary_agent_id` integer NOT NULL,
	`load_test_id` integer,
	`test_index` integer,
	`config` text,
	`candidate` text,
	`results` text,
	`error` text,
	`wake_at` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer
);
--> statement-breakpoint
CREATE INDEX `test_session_organization` ON `test_session` (`organization_id`);--> statement-breakpoint
CREATE INDEX `test_session_status` ON `test_session` (`organization_id`,`status`);--> statement-breakpoint
CREATE INDEX `test_session_load_test` ON `test_session` (`load_test_id`,`test_index`) WHERE load_test_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `test_session_wake` ON `test_session` (`wake_at`) WHERE wake_at IS NOT NULL;