import type { Database, Statement } from '../database/client.ts';

/** A question that found nothing, with its repeats. Moments in epoch ms. */
export interface QuestionRow {
  question: string;
  times: number;
  last_asked_at: number;
  /** Of the latest time. */
  agent_id: number;
  run_id: number;
}

/** How many questions are looked at, from the newest. */
const maxQuestions = 10_000;

interface QuestionRange {
  /** Epoch ms, `to` exclusive. */
  from: number;
  to: number;
}

/** Whether a range has more questions than are looked at. */
export const hasMoreQuestions = (database: Database, organizationId: number, { from, to }: QuestionRange): Statement<{ more: number }> =>
  database.prepare<{ more: number }>(
    `SELECT count(*) > ${maxQuestions} AS more FROM (
       SELECT 1 FROM unanswered_question WHERE organization_id = ? AND created_at >= ? AND created_at < ? LIMIT ${maxQuestions + 1})`,
    organizationId,
    from,
    to,
  );

/** The questions of a range that found nothing, the most frequent first. `agentId` null: of all agents. */
export const listUnanswered = (
  database: Database,
  organizationId: number,
  { from, to, agentId, limit }: QuestionRange & { agentId: number | null; limit: number },
): Statement<QuestionRow> =>
  database.prepare<QuestionRow>(
    `SELECT question, count(*) AS times, max(created_at) AS last_asked_at, agent_id, run_id FROM (
       SELECT * FROM unanswered_question WHERE organization_id = ?1 AND created_at >= ?2 AND created_at < ?3
       ORDER BY created_at DESC LIMIT ${maxQuestions})
     WHERE ?4 IS NULL OR agent_id = ?4
     GROUP BY lower(question) ORDER BY times DESC, last_asked_at DESC, run_id DESC LIMIT ?5`,
    organizationId,
    from,
    to,
    agentId,
    limit,
  );
