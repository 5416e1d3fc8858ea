CREATE TABLE `suppression_proposal` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`phone` text NOT NULL,
	`contact_id` integer,
	`call_run_id` integer NOT NULL,
	`reason` text NOT NULL,
	`state` text DEFAULT 'open' NOT NULL,
	`created_at` integer NOT NULL,
	`decided_at` integer,
	`decided_by` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppression_proposal_call` ON `suppression_proposal` (`organization_id`,`call_run_id`);--> statement-breakpoint
CREATE INDEX `suppression_proposal_state` ON `suppression_proposal` (`organization_id`,`state`);--> statement-breakpoint
CREATE INDEX `suppression_proposal_phone` ON `suppression_proposal` (`organization_id`,`phone`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `suppression_proposal_age` ON `suppression_proposal` (`created_at`);--> statement-breakpoint
ALTER TABLE `suppression` ADD `source` text DEFAULT 'manual' NOT NULL;--> statement-breakpoint
ALTER TABLE `suppression` ADD `evidence` text;--> statement-breakpoint
ALTER TABLE `suppression` ADD `call_run_id` integer;--> statement-breakpoint
ALTER TABLE `suppression` ADD `created_by` integer;--> statement-breakpoint
ALTER TABLE `suppression` ADD `restored_at` integer;--> statement-breakpoint
ALTER TABLE `suppression` ADD `restored_by` integer;--> statement-breakpoint
ALTER TABLE `suppression` ADD `restore_reason` text;--> statement-breakpoint
-- Before, only the reason told that a call had added the number.
UPDATE suppression SET source = 'call', call_run_id = CAST(substr(reason, 28) AS INTEGER) WHERE reason LIKE 'do\_not\_call: asked in call %' ESCAPE '\';
