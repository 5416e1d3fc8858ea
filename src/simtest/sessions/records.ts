import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import { configWarnings } from '../config/config.ts';
import type { LiveSession } from '../contract.ts';
import type { ConversationRecord, TestSessionRecord } from '../schemas.ts';
import type { SessionRow } from './store.ts';
import type { SessionTranscript } from './rpc.ts';

/** The API record of a session: of its row, and of its object where `live` is given. */
export function sessionRecord(row: SessionRow, live: LiveSession | null = null): z.infer<typeof TestSessionRecord> {
  const { status, results, error } = live ?? row;
  return {
    id: row.id,
    name: row.name,
    status,
    actor_workflow_id: row.actor_agent_id,
    adversary_workflow_id: row.adversary_agent_id,
    load_test_group_id: row.load_test_id,
    test_index: row.test_index,
    config: row.config,
    warnings: configWarnings(row.config),
    results,
    error,
    created_at: toTimestamp(row.created_at),
    started_at: nullableTimestamp(live ? live.startedAt : row.started_at),
    completed_at: nullableTimestamp(live ? live.completedAt : row.completed_at),
  };
}

/** The API record of a transcript. A conversation that goes on ends at `now`, for its duration. */
export const conversationRecord = (
  sessionId: number,
  { turns, startedAt, endedAt }: SessionTranscript,
  now: number,
): z.infer<typeof ConversationRecord> => ({
  test_session_id: sessionId,
  transcript: turns.map(({ speaker, text, at }) => ({ speaker, text, at: toTimestamp(at) })),
  recording_urls: { actor: null, adversary: null, combined: null },
  duration_seconds: Math.max(0, (endedAt ?? now) - startedAt) / 1000,
  started_at: toTimestamp(startedAt),
  ended_at: nullableTimestamp(endedAt),
});
