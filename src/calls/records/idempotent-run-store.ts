import type { Database } from '../../database/client.ts';

/** The newest run since `since` (epoch ms) whose attempt key begins with `prefix`. */
export const findNewestRunByPrefix = (
  database: Database,
  organizationId: number,
  prefix: string,
  since: number,
): Promise<{ id: number; attempt_key: string } | null> =>
  database.first(
    database.prepare(
      `SELECT id, attempt_key FROM voice_agent_run INDEXED BY voice_agent_run_attempt
       WHERE organization_id = ?1 AND attempt_key >= ?2 AND attempt_key < ?2 || char(0x10ffff) AND created_at >= ?3
       ORDER BY attempt_key DESC LIMIT 1`,
      organizationId,
      prefix,
      since,
    ),
  );
