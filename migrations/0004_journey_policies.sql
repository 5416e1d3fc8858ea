CREATE TABLE `exit_topic` (
	`organization_id` integer NOT NULL,
	`event_type` text NOT NULL,
	`workflow_id` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `event_type`, `workflow_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `run_waiter` (
	`organization_id` integer NOT NULL,
	`event_type` text NOT NULL,
	`field` text NOT NULL,
	`value` text NOT NULL,
	`run_id` integer NOT NULL,
	`wait_id` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `event_type`, `field`, `value`, `run_id`, `wait_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `workflow_entry` (
	`workflow_id` integer NOT NULL,
	`entry_key` text NOT NULL,
	`entered_at` integer NOT NULL,
	`run_id` integer NOT NULL,
	PRIMARY KEY(`workflow_id`, `entry_key`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `automation_run` ADD `hold` text;--> statement-breakpoint
ALTER TABLE `automation_run` ADD `is_sole` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_run` ADD `is_exitable` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_run` ADD `parent_run_id` integer;--> statement-breakpoint
CREATE INDEX `automation_run_hold` ON `automation_run` (`workflow_id`,`hold`) WHERE hold IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `automation_run_sole` ON `automation_run` (`workflow_id`,`entry_key`) WHERE is_sole = 1;--> statement-breakpoint
CREATE INDEX `automation_run_exit_key` ON `automation_run` (`workflow_id`,`entry_key`) WHERE is_exitable = 1;--> statement-breakpoint
CREATE INDEX `automation_run_exit_contact` ON `automation_run` (`workflow_id`,`contact_id`) WHERE is_exitable = 1;--> statement-breakpoint
ALTER TABLE `automation_workflow` ADD `held_runs_count` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `automation_workflow_held` ON `automation_workflow` (`id`) WHERE held_runs_count > 0;--> statement-breakpoint
-- held_runs_count of a workflow: its runs that wait for their turn.
CREATE TRIGGER automation_run_held AFTER INSERT ON automation_run WHEN NEW.hold = 'max_active' BEGIN
  UPDATE automation_workflow SET held_runs_count = held_runs_count + 1 WHERE id = NEW.workflow_id;
END;
--> statement-breakpoint
CREATE TRIGGER automation_run_admitted AFTER UPDATE OF hold ON automation_run WHEN (OLD.hold IS 'max_active') <> (NEW.hold IS 'max_active') BEGIN
  UPDATE automation_workflow SET held_runs_count = held_runs_count + (NEW.hold IS 'max_active') - (OLD.hold IS 'max_active')
  WHERE id = NEW.workflow_id;
END;
