import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import type { Progress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { Timer } from '../shared/timers.ts';
import type { RunDocument } from './run-document.ts';

/** Objects of earlier versions kept a run in tables, or in its first advance in one row of another table. */
export type EarlierForm = 'tables' | 'first_advance';

/** Reads a run that an earlier version stored, and drops its tables but the one of its history. Call it in a transaction that stores the answer. */
export function adoptEarlierForm(sql: SqlStorage, form: EarlierForm): RunDocument {
  return form === 'tables' ? adoptTables(sql) : adoptFirstAdvance(sql);
}

function adoptTables(sql: SqlStorage): RunDocument {
  const run = sql.exec<{ id: number; organization_id: number; progress: string }>('SELECT id, organization_id, progress FROM run').one();
  const timers = sql.exec<Timer & Record<string, SqlStorageValue>>('SELECT kind, subject, due, attempts FROM timer').toArray();
  const revisions = sql.exec<{ revision: number; projected: number }>('SELECT revision, projected FROM projection').one();
  const { total } = sql.exec<{ total: number }>('SELECT count(*) AS total FROM history').one();
  for (const table of ['run', 'timer', 'projection', 'schema_step']) sql.exec(`DROP TABLE ${table}`);
  return {
    id: run.id,
    organizationId: run.organization_id,
    progress: JSON.parse(run.progress) as Progress,
    entries: [],
    movedEntries: total,
    timers,
    ...revisions,
  };
}

function adoptFirstAdvance(sql: SqlStorage): RunDocument {
  const { run } = sql.exec<{ run: string }>('SELECT run FROM first_advance').one();
  const { id, organizationId, progress, entries } = JSON.parse(run) as Pick<RunDocument, 'id' | 'organizationId' | 'progress'> & {
    entries: HistoryEntry[];
  };
  sql.exec('DROP TABLE first_advance');
  return { id, organizationId, progress, entries, movedEntries: 0, isFirstAdvance: true, timers: [], revision: 1, projected: 0 };
}
