import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import { isRecord } from '../../library/json/json.ts';
import { cleanText } from '../../library/text/clean-text.ts';
import type { ConversationEvent } from '../../voice-agents/conversation/contract.ts';
import { knowledgeTool } from '../../voice-agents/definition/tool-rules.ts';
import { erasedName } from '../records/erase-calls.ts';

/** What an agent has looked for in documents during a talk. */
export interface KnowledgeQuestions {
  /** How many searches ended. */
  asked: number;
  /** The questions to which no passage was found, in their order. */
  unanswered: string[];
}

const maxQuestionLength = 500;
/** A talk has few; a model that repeats itself must not fill the list. */
const maxStoredQuestions = 50;

/** Reads the searches of a talk from its log. A search that failed, and one that a test has mocked, says nothing about the documents. */
export function findKnowledgeQuestions(events: readonly ConversationEvent[]): KnowledgeQuestions {
  const searches = events.filter(
    ({ type, payload }) => type === 'tool_called' && payload['name'] === knowledgeTool && Array.isArray(payload['receipts']),
  );
  const empty = searches.filter(({ payload }) => (payload['receipts'] as unknown[]).length === 0);
  return { asked: searches.length, unanswered: empty.map(({ payload }) => toQuestion(payload['arguments'])).filter((text) => text !== '') };
}

/** The arguments of the tool are JSON as the model wrote it. */
function toQuestion(written: unknown): string {
  const query = typeof written === 'string' ? parseQuery(written) : '';
  return cleanText(query).replaceAll(/\s+/g, ' ').trim().slice(0, maxQuestionLength).toWellFormed();
}

function parseQuery(written: string): string {
  try {
    const read: unknown = JSON.parse(written);
    return isRecord(read) && typeof read['query'] === 'string' ? read['query'] : '';
  } catch {
    return '';
  }
}

/** Stores the unanswered questions of a run, unless it was erased. Repeatable. */
export const insertUnansweredQuestions = ({ database, organization }: Context, runId: number, questions: string[]): Statement =>
  database.prepare(
    `INSERT INTO unanswered_question (organization_id, created_at, run_id, place, agent_id, question)
     SELECT r.organization_id, r.created_at, r.id, j.key, r.agent_id, j.value FROM json_each(?1) j CROSS JOIN voice_agent_run r
     WHERE r.id = ?2 AND r.organization_id = ?3 AND r.name <> ?4
     ON CONFLICT DO NOTHING`,
    JSON.stringify(questions.slice(0, maxStoredQuestions)),
    runId,
    organization.id,
    erasedName,
  );
