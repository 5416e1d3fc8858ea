import type { Database } from '../../database/client.ts';
import type { suppressionProposal } from '../../database/schema/voice-agents.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit } from '../../http/pagination.ts';
import { upsertSuppressions, type SuppressionRow, type SuppressionToWrite } from './store.ts';

/** `created_at` and `decided_at` in epoch ms. */
export type ProposalRow = Omit<StoredRow<typeof suppressionProposal>, 'organization_id'>;

const columns = 'id, phone, contact_id, call_run_id, reason, state, created_at, decided_at, decided_by';

/** Inserts the proposal of a call, once, unless its number is suppressed for good. */
export async function insertProposal(
  database: Database,
  organizationId: number,
  { phone, contactId, callRunId, reason }: { phone: string; contactId: number | null; callRunId: number; reason: string },
  now: number,
): Promise<void> {
  await database.all(
    database.prepare(
      `INSERT INTO suppression_proposal (organization_id, phone, contact_id, call_run_id, reason, created_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM suppression WHERE organization_id = ?1 AND phone = ?2 AND until IS NULL)
       ON CONFLICT (organization_id, call_run_id) DO NOTHING`,
      organizationId,
      phone,
      contactId,
      callRunId,
      reason,
      now,
    ),
    'suppression_proposal.call_run_id',
  );
}

/** One page of the proposals in a state, newest first, with one row more than `limit` when another page follows. */
export async function listProposals(
  database: Database,
  organizationId: number,
  { state, before, limit, offset }: { state: ProposalRow['state']; before: number | undefined; limit: number; offset: number },
): Promise<{ rows: ProposalRow[]; total: number; isCapped: boolean }> {
  const matching = 'FROM suppression_proposal WHERE organization_id = ?1 AND state = ?2';
  const [rows, counted] = await database.batch([
    database.prepare<ProposalRow>(
      `SELECT ${columns} ${matching} AND id < ?3 ORDER BY id DESC LIMIT ?4 OFFSET ?5`,
      organizationId,
      state,
      before ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
      offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 ${matching} LIMIT ${countLimit + 1})`,
      organizationId,
      state,
    ),
  ]);
  const { total } = counted[0]!;
  return { rows, total: Math.min(total, countLimit), isCapped: total > countLimit };
}

export async function findProposal(database: Database, organizationId: number, id: number): Promise<ProposalRow | null> {
  return database.first(
    database.prepare<ProposalRow>(`SELECT ${columns} FROM suppression_proposal WHERE id = ? AND organization_id = ?`, id, organizationId),
  );
}

/** Who decides about a proposal, and when (epoch ms). */
interface Decision {
  by: number;
  now: number;
}

/**
 * Decides an open proposal and every other open one of its number; with `suppression`, the number is suppressed in the same transaction. Answers
 * the proposal and the number's suppression as they are stored afterwards. A proposal that was decided before stays, and nothing is suppressed.
 */
export async function decideProposal(
  database: Database,
  organizationId: number,
  { id, phone }: Pick<ProposalRow, 'id' | 'phone'>,
  suppression: SuppressionToWrite | null,
  { by, now }: Decision,
): Promise<{ proposal: ProposalRow | undefined; suppression: SuppressionRow | undefined }> {
  const decide = database.prepare(
    `UPDATE suppression_proposal SET state = ?4, decided_at = ?5, decided_by = ?6
     WHERE organization_id = ?2 AND phone = ?3 AND state = 'open'
       AND EXISTS (SELECT 1 FROM suppression_proposal WHERE id = ?1 AND organization_id = ?2 AND state = 'open')`,
    id,
    organizationId,
    phone,
    suppression ? 'confirmed' : 'dismissed',
    now,
    by,
  );
  const read = database.prepare<ProposalRow>(
    `SELECT ${columns} FROM suppression_proposal WHERE id = ? AND organization_id = ?`,
    id,
    organizationId,
  );
  if (suppression === null) {
    const [, [proposal]] = await database.batch([decide, read], 'read-back');
    return { proposal, suppression: undefined };
  }
  const [upsert] = upsertSuppressions(database, organizationId, [suppression], now, id);
  const [, [proposal], written] = await database.batch([decide, read, upsert!], 'suppression.phone');
  return { proposal, suppression: written[0] };
}
