-- A contact write is recorded while an active journey watches contacts, in the same transaction, whoever writes.
CREATE TRIGGER contact_change_created AFTER INSERT ON contact WHEN EXISTS (
  SELECT 1 FROM trigger_topic s CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
  WHERE s.organization_id = NEW.organization_id AND s.topic IN ('change:created', 'event:contact.created')
    AND t.id = s.trigger_id AND t.state = 'active' AND w.id = t.workflow_id AND w.status = 'active'
) BEGIN
  INSERT INTO contact_change (organization_id, contact_id, before, depth, created_at)
  VALUES (NEW.organization_id, NEW.id, NULL, NEW.depth, NEW.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER contact_change_updated AFTER UPDATE ON contact WHEN NEW.deleted_at IS NULL AND NEW.revision <> OLD.revision AND (
  EXISTS (
    SELECT 1 FROM trigger_topic s CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
    WHERE s.organization_id = NEW.organization_id AND s.topic IN ('change:updated', 'event:contact.updated')
      AND t.id = s.trigger_id AND t.state = 'active' AND w.id = t.workflow_id AND w.status = 'active'
  )
  -- What a still unhandled change of this contact led to is this change's `before`.
  OR EXISTS (SELECT 1 FROM contact_change c WHERE c.contact_id = NEW.id)
) BEGIN
  INSERT INTO contact_change (organization_id, contact_id, before, depth, created_at) VALUES (
    NEW.organization_id, NEW.id,
    json_object(
      'id', OLD.id, 'organization_id', OLD.organization_id, 'external_id', OLD.external_id, 'phone', OLD.phone, 'email', OLD.email,
      'first_name', OLD.first_name, 'last_name', OLD.last_name, 'company', OLD.company, 'title', OLD.title,
      'tags', json(OLD.tags), 'custom_fields', json(OLD.custom_fields), 'created_at', OLD.created_at, 'updated_at', OLD.updated_at
    ),
    NEW.depth, NEW.updated_at
  );
END;
