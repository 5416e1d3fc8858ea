-- Substring search over contacts. `scope` is the organization in three ideographs (base 20,000), so that it is one
-- trigram whose posting list holds this organization's contacts only. A private-use mark stands twice before each word:
-- terms of one or two letters, too short for a trigram, find words that begin with them.
-- Derived data: it can be rebuilt from `contact` at any time.
CREATE VIRTUAL TABLE contact_search USING fts5(scope, name, phone, email, company, tags, content='', contentless_delete=1, tokenize="trigram remove_diacritics 1");
--> statement-breakpoint
CREATE TRIGGER contact_search_insert AFTER INSERT ON contact WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO contact_search (rowid, scope, name, phone, email, company, tags) VALUES (
    NEW.id,
    char(19968 + NEW.organization_id % 20000, 19968 + NEW.organization_id / 20000 % 20000, 19968 + NEW.organization_id / 400000000),
    char(57344, 57344) || replace(trim(coalesce(NEW.first_name, '') || ' ' || coalesce(NEW.last_name, '')), ' ', ' ' || char(57344, 57344)),
    NEW.phone,
    char(57344, 57344) || NEW.email,
    char(57344, 57344) || replace(NEW.company, ' ', ' ' || char(57344, 57344)),
    NEW.tags
  );
END;
--> statement-breakpoint
CREATE TRIGGER contact_search_update AFTER UPDATE ON contact WHEN NEW.deleted_at IS NULL AND (
  OLD.first_name IS NOT NEW.first_name OR OLD.last_name IS NOT NEW.last_name OR OLD.phone IS NOT NEW.phone OR OLD.email IS NOT NEW.email
  OR OLD.company IS NOT NEW.company OR OLD.tags IS NOT NEW.tags
) BEGIN
  UPDATE contact_search SET
    scope = char(19968 + NEW.organization_id % 20000, 19968 + NEW.organization_id / 20000 % 20000, 19968 + NEW.organization_id / 400000000),
    name = char(57344, 57344) || replace(trim(coalesce(NEW.first_name, '') || ' ' || coalesce(NEW.last_name, '')), ' ', ' ' || char(57344, 57344)),
    phone = NEW.phone,
    email = char(57344, 57344) || NEW.email,
    company = char(57344, 57344) || replace(NEW.company, ' ', ' ' || char(57344, 57344)),
    tags = NEW.tags
  WHERE rowid = NEW.id;
END;
--> statement-breakpoint
CREATE TRIGGER contact_search_delete AFTER UPDATE OF deleted_at ON contact WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  DELETE FROM contact_search WHERE rowid = NEW.id;
END;
