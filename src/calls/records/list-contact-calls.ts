import type { Context } from '../../context.ts';
import { countLimit, type CursorPosition, cutPage, type PageResult } from '../../http/pagination.ts';
import type { AgentRunRecord } from './schemas.ts';
import { toAgentRunRecords } from './read-run.ts';
import { toAgentRunRow, type StoredAgentRun } from './store.ts';

/** The calls with a contact, inbound and outbound, newest first, without text chats. `apiUrl` as in `toAgentRunRecord`. */
export async function listContactCalls(
  context: Context,
  apiUrl: string,
  contactId: number,
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<AgentRunRecord>> {
  const { database, organization } = context;
  const calls = `voice_agent_run INDEXED BY voice_agent_run_contact WHERE contact_id = ? AND organization_id = ? AND mode NOT IN ('textchat', 'simtest')`;
  const [rows, counted] = await database.batch([
    database.prepare<StoredAgentRun>(
      `SELECT * FROM ${calls} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      contactId,
      organization.id,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM ${calls} LIMIT ${countLimit + 1})`,
      contactId,
      organization.id,
    ),
  ]);
  const { total } = counted[0]!;
  const found = cutPage(rows.map(toAgentRunRow), page.limit, (row) => ({ value: null, id: row.id }));
  return {
    rows: await toAgentRunRecords(context, apiUrl, found.rows),
    next: found.next,
    total: Math.min(total, countLimit),
    totalCapped: total > countLimit,
  };
}
