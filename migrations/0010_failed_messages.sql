CREATE TABLE `failed_message` (
	`key` text PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`message` text NOT NULL,
	`tries` integer NOT NULL,
	`first_failed_at` integer NOT NULL,
	`next_try_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `failed_message_due` ON `failed_message` (`next_try_at`);--> statement-breakpoint
ALTER TABLE `cleanup` ADD `up_to_id` integer;