CREATE TABLE `language_model` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`name` text NOT NULL,
	`provider` text NOT NULL,
	`base_url` text,
	`model` text NOT NULL,
	`api_key` text NOT NULL,
	`purposes` text NOT NULL,
	`first_token_seconds` real NOT NULL,
	`prompt_usd_per_million` real,
	`completion_usd_per_million` real,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `language_model_organization` ON `language_model` (`organization_id`);