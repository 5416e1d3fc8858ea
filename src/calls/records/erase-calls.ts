import type { Database } from '../../database/client.ts';
import type { voiceAgentRun } from '../../database/schema/index.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { Context } from '../../context.ts';
import { payloadKey } from '../../database/payload.ts';
import { artifactKey, artifactNames } from './artifacts.ts';
import { deleteCallWords } from '../listing/stored-call-words.ts';

/** The name of an erased run. Other names are those of an agent and its person, so no other run has it. */
export const erasedName = 'Deleted contact';

const pageSize = 50;

/**
 * Erases a page of a deleted contact's calls and chats, with their files in R2. `more`: another page follows; `later`: a run is still live.
 * Repeatable.
 */
export async function eraseCalls({ database, organization, bindings }: Context, contactId: number): Promise<'done' | 'more' | 'later'> {
  const { completed, hasLive } = await findErasableRuns(database, organization.id, contactId, pageSize);
  if (completed.length > 0) {
    // Before the rows, which alone know the keys of the files.
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
  const artifacts = artifactNames.map((name) => artifactKey(organizationId, id, name));
  return payload === null ? artifacts : [...artifacts, payload];
}

type ErasableRun = Pick<StoredRow<typeof voiceAgentRun>, 'id' | 'initial_context'>;

const ofDeletedContactSql = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/** A page of a deleted contact's completed runs, and whether the contact has a live run. */
async function findErasableRuns(
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<{ completed: ErasableRun[]; hasLive: boolean }> {
  const runs = `FROM voice_agent_run INDEXED BY voice_agent_run_contact WHERE ${ofDeletedContactSql}`;
  const [completed, live] = await database.batch([
    database.prepare<ErasableRun>(`SELECT id, initial_context ${runs} AND is_completed = 1 LIMIT ?3`, contactId, organizationId, limit),
    database.prepare(`SELECT 1 ${runs} AND is_completed = 0 LIMIT 1`, contactId, organizationId),
  ]);
  return { completed, hasLive: live.length > 0 };
}

/** The carrier's words may contain the number. */
const reasonWithoutPhoneSql = "replace(reason, ifnull(phone, ''), 'the number')";

/** Why the call was given back undialled. An extracted variable of that name is personal. */
const returnReasonSql = `iif(result ->> '$.gathered_context.extracted_variables.returned' IS NULL, result ->> '$.gathered_context.returned', NULL)`;

const resultWithoutConversationSql = `json_patch(json_object(
  'answered_by', result ->> '$.answered_by',
  'gathered_context', json_patch(json_object(
    'call_status', result ->> '$.gathered_context.call_status',
    'call_disposition', result ->> '$.gathered_context.call_disposition',
    'call_tags', json_array(),
    'nodes_visited', json(ifnull(result -> '$.gathered_context.nodes_visited', '[]')),
    'extracted_variables', json_object()), json_object('returned', ${returnReasonSql})),
  'cost_info', json(ifnull(result -> '$.cost_info', '{}')),
  'knowledge', json(ifnull(result -> '$.knowledge', 'null')),
  'annotations', json_object('summary', NULL, 'sentiment', result ->> '$.annotations.sentiment', 'checks', json_array())),
  json_object('transfers', json(result -> '$.transfers')))`;

/** Erases everything personal from completed runs, with their words in the search. Their outcome, cost and transfers stay, which name people of the organization; what is proposed because of them goes. */
async function eraseRuns(database: Database, organizationId: number, runIds: number[]): Promise<void> {
  const ids = JSON.stringify(runIds);
  await database.batch(
    [
      deleteCallWords(database, organizationId, runIds),
      database.prepare(
        `DELETE FROM unanswered_question WHERE organization_id = ?1 AND (created_at, run_id) IN (
           SELECT r.created_at, r.id FROM json_each(?2) j CROSS JOIN voice_agent_run r WHERE r.id = j.value AND r.organization_id = ?1)`,
        organizationId,
        ids,
      ),
      database.prepare(
        'DELETE FROM suppression_proposal WHERE organization_id = ?1 AND call_run_id IN (SELECT value FROM json_each(?2))',
        organizationId,
        ids,
      ),
      database.prepare(
        `UPDATE voice_agent_run SET phone = NULL, name = ?1, contact_id = NULL, initial_context = '{}', has_transcript = 0, recording_type = NULL,
         reason = ${reasonWithoutPhoneSql}, result = iif(result IS NULL, NULL, ${resultWithoutConversationSql}), revision = revision + 1
       WHERE id IN (SELECT value FROM json_each(?2)) AND +organization_id = ?3 AND is_completed = 1`,
        erasedName,
        ids,
        organizationId,
      ),
    ],
    'idempotent',
  );
}
