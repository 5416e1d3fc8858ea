CREATE TABLE `password_reset` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`organization_id` integer NOT NULL,
	`created_by` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `password_reset_token` ON `password_reset` (`token_hash`);--> statement-breakpoint
CREATE INDEX `password_reset_organization` ON `password_reset` (`organization_id`);--> statement-breakpoint
CREATE INDEX `password_reset_expiry` ON `password_reset` (`expires_at`);