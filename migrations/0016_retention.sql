CREATE TABLE `archive` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archive_name` ON `archive` (`organization_id`,`name`);--> statement-breakpoint
CREATE INDEX `archive_age` ON `archive` (`created_at`);--> statement-breakpoint
CREATE TABLE `archive_contact` (
	`contact_id` integer NOT NULL,
	`archive_id` integer NOT NULL,
	PRIMARY KEY(`contact_id`, `archive_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `archive_contact_archive` ON `archive_contact` (`archive_id`);--> statement-breakpoint
CREATE INDEX `schedule_fire_handled` ON `schedule_fire` (`handled_at`) WHERE handled_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `contact_deletion` ON `contact` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `contact_list_deletion` ON `contact_list` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `event_type_age` ON `event_type` (`created_at`);--> statement-breakpoint
CREATE INDEX `knowledge_document_deleted` ON `knowledge_document` (`updated_at`) WHERE is_active = 0;--> statement-breakpoint
CREATE INDEX `cleanup_given_up` ON `cleanup` (`created_at`) WHERE note IS NOT NULL;--> statement-breakpoint
CREATE INDEX `suppression_end` ON `suppression` (`until`) WHERE until IS NOT NULL;