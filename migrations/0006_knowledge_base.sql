CREATE TABLE `knowledge_chunk` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization_id` integer NOT NULL,
	`document_id` integer NOT NULL,
	`generation` integer NOT NULL,
	`chunk_index` integer NOT NULL,
	`chunk_text` text NOT NULL,
	`contextualized_text` text NOT NULL,
	`search_text` text,
	`chunk_metadata` text NOT NULL,
	`embedding_model` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_chunk_place` ON `knowledge_chunk` (`document_id`,`generation`,`chunk_index`);--> statement-breakpoint
CREATE TABLE `knowledge_document` (
	`id` integer PRIMARY KEY NOT NULL,
	`organization_id` integer NOT NULL,
	`uuid` text NOT NULL,
	`filename` text NOT NULL,
	`storage_key` text NOT NULL,
	`mime_type` text NOT NULL,
	`size_bytes` integer DEFAULT 0 NOT NULL,
	`file_hash` text DEFAULT '' NOT NULL,
	`status` text NOT NULL,
	`error` text,
	`total_chunks` integer DEFAULT 0 NOT NULL,
	`generation` integer DEFAULT 0 NOT NULL,
	`next_generation` integer DEFAULT 1 NOT NULL,
	`parser_metadata` text NOT NULL,
	`is_active` integer DEFAULT true NOT NULL,
	`created_by` integer NOT NULL,
	`due_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_document_uuid` ON `knowledge_document` (`organization_id`,`uuid`);--> statement-breakpoint
CREATE INDEX `knowledge_document_organization` ON `knowledge_document` (`organization_id`,`is_active`);--> statement-breakpoint
CREATE INDEX `knowledge_document_hash` ON `knowledge_document` (`organization_id`,`file_hash`) WHERE file_hash <> '';--> statement-breakpoint
CREATE INDEX `knowledge_document_due` ON `knowledge_document` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
-- Search over the words of chunks. `scope` holds one word for the organization and one for the document, so that the lists of its
-- chunks are all that is walked; how it is written is in `search-words.ts`. Derived data: it can be rebuilt from `knowledge_chunk`.
CREATE VIRTUAL TABLE knowledge_chunk_search USING fts5(scope, text, content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");
--> statement-breakpoint
CREATE TRIGGER knowledge_chunk_search_insert AFTER INSERT ON knowledge_chunk BEGIN
  INSERT INTO knowledge_chunk_search (rowid, scope, text) VALUES (
    NEW.id,
    'organization' || NEW.organization_id || ' document' || NEW.document_id,
    coalesce(NEW.search_text, NEW.contextualized_text)
  );
END;
--> statement-breakpoint
CREATE TRIGGER knowledge_chunk_search_delete AFTER DELETE ON knowledge_chunk BEGIN
  DELETE FROM knowledge_chunk_search WHERE rowid = OLD.id;
END;
