CREATE TABLE `upload` (
	`name` text PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `upload_age` ON `upload` (`created_at`);--> statement-breakpoint
CREATE INDEX `upload_organization` ON `upload` (`organization_id`);