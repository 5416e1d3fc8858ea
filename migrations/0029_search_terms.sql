ALTER TABLE `knowledge_chunk` ADD `search_terms` text;--> statement-breakpoint
-- Chunks that are already there keep what they are found by; a document is indexed anew by `POST /knowledge-base/documents/{uuid}/reprocess`.
DROP TRIGGER knowledge_chunk_search_insert;
--> statement-breakpoint
CREATE TRIGGER knowledge_chunk_search_insert AFTER INSERT ON knowledge_chunk BEGIN
  INSERT INTO knowledge_chunk_search (rowid, scope, text) VALUES (
    NEW.id,
    'organization' || NEW.organization_id || ' document' || NEW.document_id,
    coalesce(NEW.search_text, NEW.contextualized_text) || coalesce(' ' || NEW.search_terms, '')
  );
END;
