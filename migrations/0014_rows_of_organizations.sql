CREATE INDEX `membership_organization` ON `membership` (`organization_id`);--> statement-breakpoint
CREATE INDEX `session_organization` ON `session` (`organization_id`);--> statement-breakpoint
CREATE INDEX `contact_deleted` ON `contact` (`organization_id`,`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `contact_list_deleted` ON `contact_list` (`organization_id`,`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `integration_organization` ON `integration` (`organization_id`);--> statement-breakpoint
-- Deliveries of before names were given to all: by these, and their trigger, they are found.
UPDATE webhook_delivery SET delivery_id = 'request:00000000-0000-8000-8000-' || printf('%012x', id) WHERE delivery_id IS NULL;
