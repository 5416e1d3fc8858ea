import type { Statement, Database } from '../../database/client.ts';
import type { transit } from '../../database/schema/operations.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { writeHeld, type MoveEnds } from './ends.ts';

type Stage = StoredRow<typeof transit>['stage'];

/** Makes this worker the one that may write in both shards. */
export async function takeHold({ source, target, organizationId, claim }: MoveEnds): Promise<void> {
  for (const database of [source, target]) {
    const take = database.prepare('UPDATE transit SET holder = ?2 WHERE subject_id = ?1 AND holder < ?2', organizationId, claim);
    await database.all(take, 'idempotent');
  }
}

/** The organization is on its way, in this stage, unless it is already. */
export async function beginTransit({ organizationId, claim }: MoveEnds, database: Database, stage: Stage): Promise<void> {
  const begin = database.prepare(
    `INSERT INTO transit (subject_id, stage, holder) VALUES (?1, ?2, ?3)
     ON CONFLICT (subject_id) DO UPDATE SET holder = max(holder, excluded.holder)`,
    organizationId,
    stage,
    claim,
  );
  await database.all(begin, 'idempotent');
}

export const setStage = (ends: MoveEnds, stage: Stage): Promise<void> =>
  writeHeld(ends, ends.source, [ends.source.prepare('UPDATE transit SET stage = ? WHERE subject_id = ?', stage, ends.organizationId)]);

/** `arriving`: what is written in the target are copies, which no trigger counts. `arrived`: all is copied, and what follows counts. */
export const setTargetStage = ({ target, organizationId }: MoveEnds, stage: 'arriving' | 'arrived'): Statement =>
  target.prepare('UPDATE transit SET stage = ? WHERE subject_id = ?', stage, organizationId);

/** Nothing is on its way in this shard any more. */
export async function endTransit({ organizationId }: MoveEnds, database: Database): Promise<void> {
  const statements: Statement[] = [
    database.prepare('DELETE FROM transit_change WHERE subject_id = ?', organizationId),
    database.prepare('DELETE FROM transit WHERE subject_id = ?', organizationId),
  ];
  await database.batch(statements, 'idempotent');
}
