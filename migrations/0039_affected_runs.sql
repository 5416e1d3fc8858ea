CREATE TABLE `affected_run` (
	`organization_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`effect` text NOT NULL,
	`run_id` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `event_id`, `effect`, `run_id`)
) WITHOUT ROWID;
--> statement-breakpoint
-- Written by hand: the runs that an event has affected leave with it.
CREATE TRIGGER affected_run_event_delete AFTER DELETE ON event BEGIN
  DELETE FROM affected_run WHERE organization_id = OLD.organization_id AND event_id = OLD.id;
END;
