ALTER TABLE `campaign` ADD `archive` text;--> statement-breakpoint
ALTER TABLE `campaign` ADD `is_kept` integer DEFAULT true NOT NULL;--> statement-breakpoint
CREATE INDEX `campaign_kept` ON `campaign` (`organization_id`) WHERE state <> 'draft' AND is_kept = 1;--> statement-breakpoint
CREATE INDEX `campaign_ended` ON `campaign` (`completed_at`) WHERE completed_at IS NOT NULL AND is_kept = 1;