import { isNotInTransitSql } from '../../database/transit.ts';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Database } from '../../database/client.ts';

/** Chats that should have ended by their own timer before `before` (epoch ms): their alarm is lost, or they never began. */
export const findStalledChats = (database: Database, before: number, limit: number): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare<{ id: number; organization_id: number }>(
      `SELECT id, organization_id FROM voice_agent_run WHERE wake_at < ? AND mode = 'textchat' AND ${isNotFailedSql("'poke:chat:' || voice_agent_run.id")}
        AND ${isNotInTransitSql('organization_id')}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );

/** Fails a chat whose object cannot be reached; its messages are lost. */
export async function failChat(database: Database, organizationId: number, id: number, reason: string, now: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE voice_agent_run SET is_completed = 1, outcome = 'failed', reason = ?, completed_at = ?, wake_at = NULL, revision = revision + 1
       WHERE id = ? AND organization_id = ? AND is_completed = 0`,
      reason,
      now,
      id,
      organizationId,
    ),
    'read-back',
  );
}
