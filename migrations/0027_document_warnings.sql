ALTER TABLE `knowledge_document` ADD `warnings` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `knowledge_document` ADD `encoding` text;