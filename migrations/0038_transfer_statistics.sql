ALTER TABLE `call_statistic` ADD `transfers` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `call_statistic` ADD `transfers_taken` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `call_statistic` ADD `transfer_seconds` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
-- Transfers to humans are counted with their call. A fallback has the request of the try before it; records of earlier versions have none.
DROP TRIGGER call_count_added;
--> statement-breakpoint
-- A call that was given back undialled is no call. Its reason is in the gathered context, in which an extracted variable of that name stands, too.
CREATE TRIGGER call_count_added INSTEAD OF INSERT ON call_count
WHEN NEW.result ->> '$.gathered_context.returned' IS NULL OR NEW.result ->> '$.gathered_context.extracted_variables.returned' IS NOT NULL BEGIN
  INSERT INTO call_statistic (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition,
    calls, talk_seconds, line_seconds, prompt_tokens, completion_tokens, cost_micros, unpriced_calls, questions, unanswered_questions,
    transfers, transfers_taken, transfer_seconds)
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
    NEW.sign * coalesce(CAST(NEW.result ->> '$.knowledge.unanswered' AS INTEGER), 0),
    NEW.sign * (SELECT count(DISTINCT coalesce(value ->> '$.request', key + 1)) FROM json_each(NEW.result, '$.transfers')),
    NEW.sign * (SELECT count(*) FROM json_each(NEW.result, '$.transfers') WHERE value ->> '$.state' = 'completed'),
    NEW.sign * (SELECT coalesce(CAST(sum(value ->> '$.seconds') AS INTEGER), 0) FROM json_each(NEW.result, '$.transfers')
      WHERE value ->> '$.state' = 'completed')
  )
  ON CONFLICT (organization_id, is_day, period, agent_id, campaign_id, journey_id, own_number, direction, outcome, disposition) DO UPDATE SET
    calls = calls + excluded.calls, talk_seconds = talk_seconds + excluded.talk_seconds, line_seconds = line_seconds + excluded.line_seconds,
    prompt_tokens = prompt_tokens + excluded.prompt_tokens, completion_tokens = completion_tokens + excluded.completion_tokens,
    cost_micros = cost_micros + excluded.cost_micros, unpriced_calls = unpriced_calls + excluded.unpriced_calls,
    questions = questions + excluded.questions, unanswered_questions = unanswered_questions + excluded.unanswered_questions,
    transfers = transfers + excluded.transfers, transfers_taken = transfers_taken + excluded.transfers_taken,
    transfer_seconds = transfer_seconds + excluded.transfer_seconds;
END;
--> statement-breakpoint
-- Webhook endpoints are told which humans took the caller.
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
      'disposition', NEW.disposition, 'transfers', json(coalesce(NEW.result -> '$.transfers', '[]')), 'started_at', NEW.started_at, 'completed_at', NEW.completed_at
    ),
    'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER)
  );
END;
--> statement-breakpoint
-- Transfers of calls that ended before are counted by the minute tick (src/statistics/rebuild.ts).
UPDATE organization SET statistics_rebuild = '{}' WHERE id > 0;
