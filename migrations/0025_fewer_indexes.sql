DROP INDEX `automation_run_organization`;--> statement-breakpoint
DROP INDEX `automation_run_state`;--> statement-breakpoint
DROP INDEX `automation_run_trigger`;--> statement-breakpoint
DROP INDEX `automation_run_workflow`;--> statement-breakpoint
CREATE INDEX `automation_run_workflow` ON `automation_run` (`workflow_id`,`trigger_id`,`is_test`);--> statement-breakpoint
DROP INDEX `message_organization`;--> statement-breakpoint
DROP INDEX `message_run`;--> statement-breakpoint
DROP INDEX `test_session_organization`;