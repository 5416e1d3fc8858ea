import type { Database } from '../../database/client.ts';
import type { Context } from '../../context.ts';
import { payloadKey } from '../../database/payload.ts';
import { artifactKey, artifactNames } from './artifacts.ts';

/** The name of a run after its erasure, and of no other: theirs name their agent and whom it talks to. */
export const erasedName = 'Deleted contact';

interface ErasableRun {
  id: number;
  /** JSON text, or a pointer into R2. */
  initial_context: string;
}

const ofDeletedContactSql = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/** A page of a deleted contact's completed runs, and whether it has a run that lives. */
async function findErasableRuns(
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<{ completed: ErasableRun[]; hasLive: boolean }> {
  const runs = `FROM voice_agent_run INDEXED BY voice_agent_run_contact WHERE ${ofDeletedContactSql}`;
  const [completed, live] = await database.batch([
    database.prepare(`SELECT id, initial_context ${runs} AND is_completed = 1 LIMIT ?3`, contactId, organizationId, limit),
    database.prepare(`SELECT 1 ${runs} AND is_completed = 0 LIMIT 1`, contactId, organizationId),
  ]);
  return { completed: completed! as unknown as ErasableRun[], hasLive: live!.length > 0 };
}

/** A carrier's words may name the number. */
const reasonWithoutPhoneSql = "replace(reason, ifnull(phone, ''), 'the number')";

const resultWithoutConversationSql = `json_object(
  'gathered_context', json_object(
    'call_status', result ->> '$.gathered_context.call_status',
    'call_disposition', result ->> '$.gathered_context.call_disposition',
    'call_tags', json_array(),
    'nodes_visited', json(ifnull(result -> '$.gathered_context.nodes_visited', '[]')),
    'extracted_variables', json_object()),
  'cost_info', json(ifnull(result -> '$.cost_info', '{}')),
  'annotations', json_object('summary', NULL, 'sentiment', result ->> '$.annotations.sentiment', 'checks', json_array()))`;

/** Leaves of completed runs what tells nothing of the person: what they came to and cost. */
async function eraseRuns(database: Database, organizationId: number, runIds: number[]): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE voice_agent_run SET phone = NULL, name = ?1, contact_id = NULL, initial_context = '{}', has_transcript = 0, recording_type = NULL,
         reason = ${reasonWithoutPhoneSql}, result = iif(result IS NULL, NULL, ${resultWithoutConversationSql}), revision = revision + 1
       WHERE id IN (SELECT value FROM json_each(?2)) AND +organization_id = ?3 AND is_completed = 1`,
      erasedName,
      JSON.stringify(runIds),
      organizationId,
    ),
    'idempotent',
  );
}

const pageSize = 50;

/**
 * Erases a page of a deleted contact's calls and chats with all that they left in R2. `more`: another page follows; `later`: one of them
 * still lives. Repeatable.
 */
export async function eraseCalls({ database, organization, bindings }: Context, contactId: number): Promise<'done' | 'more' | 'later'> {
  const { completed, hasLive } = await findErasableRuns(database, organization.id, contactId, pageSize);
  if (completed.length > 0) {
    // Before the rows, since these alone know where the files are.
    await bindings.FILES.delete(completed.flatMap((run) => listFileKeys(organization.id, run)));
    await eraseRuns(
      database,
      organization.id,
      completed.map(({ id }) => id),
    );
  }
  if (completed.length === pageSize) return 'more';
  return hasLive ? 'later' : 'done';
}

function listFileKeys(organizationId: number, { id, initial_context: stored }: ErasableRun): string[] {
  const payload = payloadKey(stored);
  const ofTalk = artifactNames.map((name) => artifactKey(organizationId, id, name));
  return payload === null ? ofTalk : [...ofTalk, payload];
}
