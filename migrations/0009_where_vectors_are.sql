CREATE TABLE `vector_placement` (
	`organization_id` integer PRIMARY KEY NOT NULL,
	`kept_in` text,
	`other` text,
	`phase` text,
	`move_to` text,
	`revision` integer DEFAULT 0 NOT NULL,
	`cursor` text,
	`total` integer DEFAULT 0 NOT NULL,
	`moved` integer DEFAULT 0 NOT NULL,
	`missing` integer DEFAULT 0 NOT NULL,
	`missing_documents` text DEFAULT '[]' NOT NULL,
	`looks` integer DEFAULT 0 NOT NULL,
	`error` text,
	`due_at` integer,
	`started_at` integer,
	`finished_at` integer
);
--> statement-breakpoint
CREATE INDEX `vector_placement_due` ON `vector_placement` (`due_at`) WHERE due_at IS NOT NULL;