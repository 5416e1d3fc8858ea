-- runs_count and active_runs_count of a workflow, fire_count of a trigger: kept with the row that they count.
CREATE TRIGGER automation_run_started AFTER INSERT ON automation_run WHEN NEW.is_test = 0 BEGIN
  UPDATE automation_workflow SET
    runs_count = runs_count + 1,
    active_runs_count = active_runs_count + (NEW.state IN ('queued', 'pending', 'running', 'waiting'))
  WHERE id = NEW.workflow_id;
END;
--> statement-breakpoint
CREATE TRIGGER automation_run_ended AFTER UPDATE OF state ON automation_run
WHEN NEW.is_test = 0 AND (OLD.state IN ('queued', 'pending', 'running', 'waiting')) <> (NEW.state IN ('queued', 'pending', 'running', 'waiting')) BEGIN
  UPDATE automation_workflow SET
    active_runs_count = active_runs_count + (NEW.state IN ('queued', 'pending', 'running', 'waiting')) - (OLD.state IN ('queued', 'pending', 'running', 'waiting'))
  WHERE id = NEW.workflow_id;
END;
--> statement-breakpoint
CREATE TRIGGER automation_run_fired AFTER INSERT ON automation_run WHEN NEW.trigger_id IS NOT NULL AND NEW.is_test = 0 BEGIN
  UPDATE automation_trigger SET fire_count = fire_count + 1, last_fired_at = NEW.created_at WHERE id = NEW.trigger_id;
END;
