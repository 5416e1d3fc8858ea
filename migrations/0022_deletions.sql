CREATE TABLE `deletion` (
	`id` text PRIMARY KEY NOT NULL,
	`subject_id` integer NOT NULL,
	`requested_by` integer NOT NULL,
	`step` integer NOT NULL,
	`removed` integer NOT NULL,
	`due_at` integer,
	`created_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deletion_subject` ON `deletion` (`subject_id`);--> statement-breakpoint
CREATE INDEX `deletion_due` ON `deletion` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deletion_finished` ON `deletion` (`finished_at`) WHERE finished_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `organization` ADD `deleting_at` integer;