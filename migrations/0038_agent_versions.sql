ALTER TABLE `voice_agent_definition` ADD `template_context_variables` text;--> statement-breakpoint
ALTER TABLE `voice_agent_definition` ADD `call_disposition_codes` text;--> statement-breakpoint
ALTER TABLE `voice_agent_definition` ADD `workflow_configurations` text;--> statement-breakpoint
CREATE INDEX `voice_agent_definition_without_settings` ON `voice_agent_definition` (`agent_id`) WHERE workflow_configurations IS NULL;