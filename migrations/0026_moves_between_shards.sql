CREATE TABLE `organization_move` (
	`subject_id` integer PRIMARY KEY NOT NULL,
	`from_shard` integer NOT NULL,
	`to_shard` integer NOT NULL,
	`phase` text NOT NULL,
	`step` integer DEFAULT 0 NOT NULL,
	`cursor` text,
	`copied` integer DEFAULT 0 NOT NULL,
	`changes_left` integer DEFAULT 0 NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`claim` integer DEFAULT 0 NOT NULL,
	`note` text,
	`due_at` integer,
	`requested_at` integer NOT NULL,
	`announced_at` integer,
	`moved_at` integer,
	`finished_at` integer
);
--> statement-breakpoint
CREATE INDEX `organization_move_due` ON `organization_move` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `transit` (
	`subject_id` integer PRIMARY KEY NOT NULL,
	`stage` text NOT NULL,
	`holder` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `transit_change` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`subject_id` integer NOT NULL,
	`kind` text NOT NULL,
	`key` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `organization` ADD `moving_to` integer;