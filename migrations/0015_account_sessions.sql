ALTER TABLE `session` ADD `network` text;--> statement-breakpoint
CREATE INDEX `session_user` ON `session` (`user_id`);