ALTER TABLE `voice_agent_run` ADD `automation_workflow_id` integer;--> statement-breakpoint
ALTER TABLE `voice_agent_run` ADD `talk_seconds` integer;--> statement-breakpoint
-- What earlier calls already know. Their words come later: the minute tick makes them from the transcripts in R2 (src/cron/index-calls.ts).
UPDATE voice_agent_run SET talk_seconds = result ->> '$.cost_info.call_duration_seconds'
WHERE is_completed = 1 AND outcome = 'completed' AND has_transcript = 1 AND mode <> 'textchat';
--> statement-breakpoint
UPDATE voice_agent_run SET automation_workflow_id = (SELECT r.workflow_id FROM automation_run r WHERE r.id = voice_agent_run.automation_run_id)
WHERE automation_run_id IS NOT NULL;
--> statement-breakpoint
INSERT OR REPLACE INTO progress (name, value) SELECT 'calls_without_words', id FROM voice_agent_run WHERE id = (SELECT max(id) FROM voice_agent_run);
--> statement-breakpoint
CREATE INDEX `voice_agent_run_created` ON `voice_agent_run` (`organization_id`,`created_at`) WHERE mode <> 'textchat';--> statement-breakpoint
CREATE INDEX `voice_agent_run_phone` ON `voice_agent_run` (`organization_id`,`phone`) WHERE phone IS NOT NULL;--> statement-breakpoint
CREATE INDEX `voice_agent_run_campaign` ON `voice_agent_run` (`campaign_id`,`created_at`) WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `voice_agent_run_journey` ON `voice_agent_run` (`automation_workflow_id`,`created_at`) WHERE automation_workflow_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `voice_agent_run_talk` ON `voice_agent_run` (`organization_id`,`talk_seconds`) WHERE talk_seconds > 0;--> statement-breakpoint
-- Search over the words of calls with a transcript. `scope` holds one word for the organization; which words a call has is written in
-- `src/calls/listing/call-words.ts`. Derived data: it can be rebuilt from the transcripts in R2.
CREATE VIRTUAL TABLE call_search USING fts5(scope, text, content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");
--> statement-breakpoint
CREATE TRIGGER voice_agent_run_words_delete AFTER DELETE ON voice_agent_run WHEN OLD.has_transcript = 1 BEGIN
  DELETE FROM call_search WHERE rowid = OLD.id;
END;
