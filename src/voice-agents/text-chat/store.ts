import type { Database } from '../../database/client.ts';

/** Chats that should have ended by themselves before `before` (epoch ms): their objects' alarms may be dead, or they never began. */
export const overdueChats = (database: Database, before: number, limit: number): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare(
      `SELECT id, organization_id FROM voice_agent_run WHERE wake_at < ? AND mode = 'textchat' ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );
