import type { Context } from '../context.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { sumWork, type WorkRow } from './call-store.ts';
import { hasMoreQuestions, listUnanswered } from './knowledge-store.ts';
import { toPeriodsJson } from './period-rows.ts';
import { splitRange, wholeRange, type TimeUnit } from './periods.ts';
import { readRange, type RangeQuery } from './range.ts';
import { toShare } from './wilson.ts';

export interface KnowledgeQuery extends RangeQuery {
  workflow_id?: number | undefined;
  interval?: TimeUnit | undefined;
  limit: number;
}

/**
 * What agents have looked for in documents in a range, and the questions that found nothing, the most frequent first. Reads the counters of the range
 * and at most `maxQuestions` questions. Throws 422 as `readRange` does.
 */
export async function readKnowledgeStatistics(context: Context, query: KnowledgeQuery) {
  const { interval = null, workflow_id: agentId, limit } = query;
  const range = readRange(context, query, interval);
  const periods = interval === null ? [wholeRange(range)] : splitRange(range, interval);
  const { database, organization } = context;
  const json = toPeriodsJson(periods, range.timezone, interval !== 'hour');
  const [talks, questions, more] = await database.batch([
    sumWork(database, organization.id, json, agentId ?? null),
    listUnanswered(database, organization.id, { ...range, agentId: agentId ?? null, limit }),
    hasMoreQuestions(database, organization.id, range),
  ]);
  const totals = addQuestions(talks);
  const byBucket = Map.groupBy(talks, ({ bucket }) => bucket);
  return {
    from: toTimestamp(range.from),
    to: toTimestamp(range.to),
    timezone: range.timezone,
    ...totals,
    unanswered_share: toShare(totals.unanswered, totals.questions),
    unanswered_capped: more[0]?.more === 1,
    over_time:
      interval === null
        ? []
        : periods.map(({ label, start }, place) =>
            Object.assign({ period: label, start: toTimestamp(start) }, addQuestions(byBucket.get(place) ?? [])),
          ),
    unanswered_questions: questions.map((row) => ({
      question: row.question,
      times: row.times,
      last_asked_at: toTimestamp(row.last_asked_at),
      workflow_id: row.agent_id,
      run_id: row.run_id,
    })),
  };
}

const addQuestions = (rows: readonly WorkRow[]) => ({
  questions: rows.reduce((sum, row) => sum + row.questions, 0),
  unanswered: rows.reduce((sum, row) => sum + row.unanswered_questions, 0),
});
