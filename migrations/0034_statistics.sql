CREATE TABLE `call_statistic` (
	`organization_id` integer NOT NULL,
	`is_day` integer NOT NULL,
	`period` integer NOT NULL,
	`agent_id` integer NOT NULL,
	`campaign_id` integer NOT NULL,
	`journey_id` integer NOT NULL,
	`own_number` text NOT NULL,
	`direction` text NOT NULL,
	`outcome` text NOT NULL,
	`disposition` text NOT NULL,
	`calls` integer DEFAULT 0 NOT NULL,
	`talk_seconds` integer DEFAULT 0 NOT NULL,
	`line_seconds` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL,
	`unpriced_calls` integer DEFAULT 0 NOT NULL,
	`questions` integer DEFAULT 0 NOT NULL,
	`unanswered_questions` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`organization_id`, `is_day`, `period`, `agent_id`, `campaign_id`, `journey_id`, `own_number`, `direction`, `outcome`, `disposition`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `journey_statistic` (
	`organization_id` integer NOT NULL,
	`workflow_id` integer NOT NULL,
	`is_day` integer NOT NULL,
	`period` integer NOT NULL,
	`version` integer NOT NULL,
	`state` text NOT NULL,
	`outcome` text NOT NULL,
	`end_node` text NOT NULL,
	`trail` text NOT NULL,
	`runs` integer DEFAULT 0 NOT NULL,
	`prompt_tokens` integer DEFAULT 0 NOT NULL,
	`completion_tokens` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`workflow_id`, `is_day`, `period`, `version`, `state`, `outcome`, `end_node`, `trail`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `unanswered_question` (
	`organization_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`run_id` integer NOT NULL,
	`place` integer NOT NULL,
	`agent_id` integer NOT NULL,
	`question` text NOT NULL,
	PRIMARY KEY(`organization_id`, `created_at`, `run_id`, `place`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_statistic` (
	`organization_id` integer NOT NULL,
	`is_day` integer NOT NULL,
	`period` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`items` integer DEFAULT 0 NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`organization_id`, `is_day`, `period`, `kind`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `organization` ADD `statistics_rebuild` text;--> statement-breakpoint
CREATE INDEX `organization_statistics_rebuild` ON `organization` (`id`) WHERE statistics_rebuild IS NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_run` ADD `trail` text;
--> statement-breakpoint
-- Counters of statistics. What ends is inserted into a view without rows, with the sign by which it counts; the trigger of the view adds it
-- to one row of counters, in the transaction of the change. A row that is changed after its end counts no longer as it was, and then as it is.
-- Rows that arrive with a move of their organization are counted already: the counters move, too.
CREATE VIEW call_count AS SELECT 0 AS organization_id, 0 AS created_at, 0 AS agent_id, 0 AS campaign_id, 0 AS journey_id, '' AS own_number,
  '' AS mode, '' AS call_type, '' AS outcome, '' AS disposition, 0 AS talk_seconds, '' AS result, 0 AS sign WHERE 0;
--> statement-breakpoint
-- A call that was given back undialled is no call. Its reason is in the gathered context, in which an extracted variable of that name stands, too.
CREATE TRIGGER call_count_added INSTEAD OF INSERT ON call_count
WHEN NEW.result ->> '$.gathered_context.returned' IS NULL OR NEW.result ->> '$.gathered_context.extracted_variables.returned' IS NOT NULL BEGIN
  INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition,
    calls, talk_seconds, line_seconds, prompt_tokens, completion_tokens, cost_micros, unpriced_calls, questions, unanswered_questions)
  VALUES (
    NEW.organization_id, 0, NEW.created_at - NEW.created_at % 900000, NEW.agent_id, coalesce(NEW.campaign_id, 0), coalesce(NEW.journey_id, 0),
    coalesce(NEW.own_number, ''), iif(NEW.mode = 'textchat', 'chat', NEW.call_type), coalesce(NEW.outcome, 'failed'),
    substr(coalesce(NEW.disposition, ''), 1, 100), NEW.sign, NEW.sign * coalesce(NEW.talk_seconds, 0),
    NEW.sign * coalesce(CAST(NEW.result ->> '$.cost_info.call_duration_seconds' AS INTEGER), 0),
    NEW.sign * coalesce(CAST(NEW.result ->> '$.cost_info.llm_tokens.prompt' AS INTEGER), 0),
    NEW.sign * coalesce(CAST(NEW.result ->> '$.cost_info.llm_tokens.completion' AS INTEGER), 0),
    NEW.sign * coalesce(CAST(round((NEW.result ->> '$.cost_info.total_cost_usd') * 1000000) AS INTEGER), 0),
    NEW.sign * ((NEW.result ->> '$.cost_info.total_cost_usd') IS NULL),
    NEW.sign * coalesce(CAST(NEW.result ->> '$.knowledge.questions' AS INTEGER), 0),
    NEW.sign * coalesce(CAST(NEW.result ->> '$.knowledge.unanswered' AS INTEGER), 0)
  )
  ON CONFLICT (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition) DO UPDATE SET
    calls = calls + excluded.calls, talk_seconds = talk_seconds + excluded.talk_seconds, line_seconds = line_seconds + excluded.line_seconds,
    prompt_tokens = prompt_tokens + excluded.prompt_tokens, completion_tokens = completion_tokens + excluded.completion_tokens,
    cost_micros = cost_micros + excluded.cost_micros, unpriced_calls = unpriced_calls + excluded.unpriced_calls,
    questions = questions + excluded.questions, unanswered_questions = unanswered_questions + excluded.unanswered_questions;
END;
--> statement-breakpoint
CREATE TRIGGER call_settled AFTER UPDATE OF is_completed, outcome, disposition, talk_seconds, own_number, result ON voice_agent_run
WHEN (OLD.is_completed = 1 OR NEW.is_completed = 1) AND (
    OLD.is_completed <> NEW.is_completed OR OLD.outcome IS NOT NEW.outcome OR OLD.disposition IS NOT NEW.disposition
    OR OLD.talk_seconds IS NOT NEW.talk_seconds OR OLD.own_number IS NOT NEW.own_number OR OLD.result IS NOT NEW.result
  ) AND NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = NEW.organization_id AND stage = 'arriving') BEGIN
  INSERT INTO call_count (organization_id, created_at, agent_id, campaign_id, journey_id, own_number, mode, call_type, outcome, disposition,
    talk_seconds, result, sign)
  SELECT OLD.organization_id, OLD.created_at, OLD.agent_id, OLD.campaign_id, OLD.automation_workflow_id, OLD.own_number, OLD.mode,
    OLD.call_type, OLD.outcome, OLD.disposition, OLD.talk_seconds, OLD.result, -1 WHERE OLD.is_completed = 1;
  INSERT INTO call_count (organization_id, created_at, agent_id, campaign_id, journey_id, own_number, mode, call_type, outcome, disposition,
    talk_seconds, result, sign)
  SELECT NEW.organization_id, NEW.created_at, NEW.agent_id, NEW.campaign_id, NEW.automation_workflow_id, NEW.own_number, NEW.mode,
    NEW.call_type, NEW.outcome, NEW.disposition, NEW.talk_seconds, NEW.result, 1 WHERE NEW.is_completed = 1;
END;
--> statement-breakpoint
CREATE TRIGGER unanswered_question_delete AFTER DELETE ON voice_agent_run BEGIN
  DELETE FROM unanswered_question WHERE organization_id = OLD.organization_id AND created_at = OLD.created_at AND run_id = OLD.id;
END;
--> statement-breakpoint
CREATE VIEW journey_run_count AS SELECT 0 AS organization_id, 0 AS workflow_id, 0 AS created_at, 0 AS version, '' AS state, '' AS outcome,
  '' AS end_node, '' AS trail, 0 AS sign, 0 AS is_rebuilt WHERE 0;
--> statement-breakpoint
CREATE TRIGGER journey_run_count_added INSTEAD OF INSERT ON journey_run_count BEGIN
  INSERT INTO journey_statistic (organization_id, workflow_id, is_day, period, version, state, outcome, end_node, trail, runs, prompt_tokens,
    completion_tokens)
  VALUES (
    NEW.organization_id, NEW.workflow_id, 0, NEW.created_at - NEW.created_at % 900000, NEW.version, NEW.state,
    substr(coalesce(NEW.outcome, ''), 1, 100), coalesce(NEW.end_node, ''), coalesce(json_remove(NEW.trail, '$.tokens'), ''), NEW.sign,
    NEW.sign * coalesce(NEW.trail ->> '$.tokens[0]', 0), NEW.sign * coalesce(NEW.trail ->> '$.tokens[1]', 0)
  )
  ON CONFLICT (workflow_id, is_day, period, version, state, outcome, end_node, trail) DO UPDATE SET
    runs = runs + excluded.runs, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    completion_tokens = completion_tokens + excluded.completion_tokens;
END;
--> statement-breakpoint
-- The same for all journeys of the organization together. When one journey is counted again, all together are counted afterwards.
CREATE TRIGGER journey_run_total_added INSTEAD OF INSERT ON journey_run_count WHEN NEW.is_rebuilt IS NULL BEGIN
  INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition,
    calls, prompt_tokens, completion_tokens)
  VALUES (
    NEW.organization_id, 0, NEW.created_at - NEW.created_at % 900000, 0, 0, 0, '', 'run', '', '', NEW.sign,
    NEW.sign * coalesce(NEW.trail ->> '$.tokens[0]', 0), NEW.sign * coalesce(NEW.trail ->> '$.tokens[1]', 0)
  )
  ON CONFLICT (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition) DO UPDATE SET
    calls = calls + excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    completion_tokens = completion_tokens + excluded.completion_tokens;
END;
--> statement-breakpoint
CREATE TRIGGER journey_run_settled AFTER UPDATE OF completed_at ON automation_run
WHEN NEW.is_test = 0 AND (OLD.completed_at IS NULL) <> (NEW.completed_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = NEW.organization_id AND stage = 'arriving') BEGIN
  INSERT INTO journey_run_count (organization_id, workflow_id, created_at, version, state, outcome, end_node, trail, sign)
  SELECT OLD.organization_id, OLD.workflow_id, OLD.created_at, OLD.workflow_version, OLD.state, OLD.outcome, OLD.current_node_id, OLD.trail, -1
  WHERE OLD.completed_at IS NOT NULL;
  INSERT INTO journey_run_count (organization_id, workflow_id, created_at, version, state, outcome, end_node, trail, sign)
  SELECT NEW.organization_id, NEW.workflow_id, NEW.created_at, NEW.workflow_version, NEW.state, NEW.outcome, NEW.current_node_id, NEW.trail, 1
  WHERE NEW.completed_at IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER journey_run_refused AFTER INSERT ON automation_run
WHEN NEW.completed_at IS NOT NULL AND NEW.is_test = 0
  AND NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = NEW.organization_id AND stage = 'arriving') BEGIN
  INSERT INTO journey_run_count (organization_id, workflow_id, created_at, version, state, outcome, end_node, trail, sign)
  VALUES (NEW.organization_id, NEW.workflow_id, NEW.created_at, NEW.workflow_version, NEW.state, NEW.outcome, NEW.current_node_id, NEW.trail, 1);
END;
--> statement-breakpoint
CREATE VIEW usage_count AS SELECT 0 AS organization_id, 0 AS created_at, '' AS kind, '' AS name, 0 AS items, 0 AS bytes WHERE 0;
--> statement-breakpoint
CREATE TRIGGER usage_count_added INSTEAD OF INSERT ON usage_count BEGIN
  INSERT INTO usage_statistic (organization_id, is_day, period, kind, name, items, bytes)
  VALUES (NEW.organization_id, 0, NEW.created_at - NEW.created_at % 900000, NEW.kind, NEW.name, NEW.items, NEW.bytes)
  ON CONFLICT (organization_id, is_day, period, kind, name) DO UPDATE SET items = items + excluded.items, bytes = bytes + excluded.bytes;
END;
--> statement-breakpoint
-- Ranks from 2 on: the provider has accepted the message.
CREATE TRIGGER message_counted AFTER UPDATE OF status ON message
WHEN (OLD.status_rank >= 2 AND OLD.status <> 'failed') <> (NEW.status_rank >= 2 AND NEW.status <> 'failed')
  AND NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = NEW.organization_id AND stage = 'arriving') BEGIN
  INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
  VALUES (NEW.organization_id, NEW.created_at, 'message', NEW.provider, iif(NEW.status_rank >= 2 AND NEW.status <> 'failed', 1, -1), 0);
END;
--> statement-breakpoint
CREATE TRIGGER message_accepted_at_once AFTER INSERT ON message
WHEN NEW.status_rank >= 2 AND NEW.status <> 'failed'
  AND NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = NEW.organization_id AND stage = 'arriving') BEGIN
  INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
  VALUES (NEW.organization_id, NEW.created_at, 'message', NEW.provider, 1, 0);
END;
--> statement-breakpoint
-- A document with a generation has been read.
CREATE TRIGGER document_counted AFTER UPDATE OF generation, size_bytes ON knowledge_document
WHEN NEW.generation > 0 AND (OLD.generation = 0 OR OLD.size_bytes <> NEW.size_bytes)
  AND NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = NEW.organization_id AND stage = 'arriving') BEGIN
  INSERT INTO usage_count (organization_id, created_at, kind, name, items, bytes)
  VALUES (NEW.organization_id, NEW.created_at, 'document', '', OLD.generation = 0, NEW.size_bytes - iif(OLD.generation = 0, 0, OLD.size_bytes));
END;
--> statement-breakpoint
-- Webhook endpoints are told of calls that were dialled, as triggers on `call.completed` are.
DROP TRIGGER webhook_call_ended;
--> statement-breakpoint
CREATE TRIGGER webhook_call_ended AFTER UPDATE OF is_completed ON voice_agent_run
WHEN NEW.is_completed = 1 AND OLD.is_completed = 0
  AND (NEW.result ->> '$.gathered_context.returned' IS NULL OR NEW.result ->> '$.gathered_context.extracted_variables.returned' IS NOT NULL)
  AND EXISTS (SELECT 1 FROM webhook_endpoint WHERE organization_id = NEW.organization_id) BEGIN
  INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at) VALUES (
    NEW.organization_id, iif(NEW.mode = 'textchat', 'chat.completed', 'call.completed'), 'call:' || NEW.id,
    json_object(
      'run_id', NEW.id, 'workflow_id', NEW.agent_id, 'contact_id', NEW.contact_id, 'campaign_id', NEW.campaign_id,
      'automation_run_id', NEW.automation_run_id, 'call_type', NEW.call_type, 'mode', NEW.mode, 'outcome', NEW.outcome, 'reason', NEW.reason,
      'disposition', NEW.disposition, 'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
-- What had ended before there were counters is counted by the minute tick (src/statistics/rebuild.ts).
UPDATE organization SET statistics_rebuild = '{}' WHERE id > 0;
