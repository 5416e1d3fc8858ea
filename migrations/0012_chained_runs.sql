ALTER TABLE `automation_run` ADD `chained_runs` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- chained_runs of the run that began a chain: the others of the chain, whose `depth` names it (library/lineage.ts).
CREATE TRIGGER automation_run_chained AFTER INSERT ON automation_run WHEN NEW.depth >= 16 BEGIN
  UPDATE automation_run SET chained_runs = chained_runs + 1 WHERE id = NEW.depth / 16 AND organization_id = NEW.organization_id;
END;
