import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { announcementMs, longestInvocationMs } from '../../src/cron/move-organization/phases.ts';
import { processMove } from '../../src/cron/move-organization/process-move.ts';
import type { FanoutMessage } from '../../src/outbox/messages.ts';
import { movedTables } from '../../src/cron/move-organization/moved-tables.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import { shardBindings } from '../../src/database/shards.ts';
import { Logger } from '../../src/library/platform/log.ts';

const [first, second] = shardBindings(env).map(({ binding }) => binding) as [D1Database, D1Database];
export { first, second };

/** Loses the messages of moves, so that only the test takes their steps; every other message goes its way. */
export function holdMoves(): void {
  if (vi.isMockFunction(env.FANOUT_QUEUE.send)) return;
  const { send } = env.FANOUT_QUEUE;
  vi.spyOn(env.FANOUT_QUEUE, 'send').mockImplementation(async (message, options) =>
    (message as FanoutMessage).kind === 'organization_move' ? (undefined as never) : send.call(env.FANOUT_QUEUE, message, options),
  );
}

export const askForMove = (id: number, to = 1, from = 0): Promise<unknown> =>
  env.DB.prepare(
    `INSERT INTO organization_move (subject_id, from_shard, to_shard, phase, due_at, requested_at) VALUES (?, ?, ?, 'asked', 0, 0)
     ON CONFLICT (subject_id) DO UPDATE SET phase = 'asked', step = 0, cursor = NULL, tries = 0, note = NULL, due_at = 0`,
  )
    .bind(id, from, to)
    .run();

export interface MoveRow {
  phase: string;
  step: number;
  note: string | null;
  due_at: number | null;
  announced_at: number | null;
  moved_at: number | null;
  claim: number;
  tries: number;
  copied: number;
}

export const moveOf = async (id: number): Promise<MoveRow> =>
  (await env.DB.prepare('SELECT * FROM organization_move WHERE subject_id = ?').bind(id).first<MoveRow>())!;

const silent = new Logger('error', {});

/** Has one message of the move worked off, as if it came when it is due and all waiting is over. */
export async function stepMove(id: number, bindings: Env = env, log: Logger = silent): Promise<MoveRow> {
  const { due_at: due, moved_at: moved, announced_at: announced } = await moveOf(id);
  const now = Math.max(Date.now(), due ?? 0, (announced ?? 0) + announcementMs, moved === null ? 0 : moved + longestInvocationMs);
  await runInvocation(() => processMove(bindings, id, log, () => now));
  return moveOf(id);
}

/** Takes steps until the phase is reached. */
export async function moveUntil(id: number, phase: string, each: (row: MoveRow) => Promise<void> = async () => {}): Promise<MoveRow> {
  for (let steps = 0; steps < 200; steps++) {
    const row = await moveOf(id);
    if (row.phase === phase) return row;
    await each(row);
    await stepMove(id);
  }
  throw new Error(`the move did not get to ${phase}: ${JSON.stringify(await moveOf(id))}`);
}

type Rows = Record<string, Record<string, unknown>[]>;

/** All rows of the organization in a shard, by table. */
export async function rowsOf(database: D1Database, id: number): Promise<Rows> {
  const found: Rows = {};
  for (const { name, rows, key } of movedTables) {
    const { results } = await database
      .prepare(`SELECT * FROM ${name} WHERE ${rows.map((condition) => `(${condition})`).join(' OR ')} ORDER BY ${key.join(', ')}`)
      .bind(id)
      .all();
    if (results.length) found[name] = results;
  }
  return found;
}

/** The ids of cleanups are those of their shard. */
export const comparable = (rows: Rows): Rows =>
  rows['cleanup'] ? { ...rows, cleanup: rows['cleanup'].map((row) => ({ ...row, id: 0 })) } : rows;

/** What a move leaves in a shard of its own: nothing. */
export async function tracesOf(database: D1Database, id: number): Promise<unknown[]> {
  const { results: triggers } = await database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB ?")
    .bind(`transit_${id}_*`)
    .all();
  const { results: transits } = await database.prepare('SELECT * FROM transit WHERE subject_id = ?').bind(id).all();
  const { results: changes } = await database.prepare('SELECT * FROM transit_change WHERE subject_id = ?').bind(id).all();
  return [...triggers, ...transits, ...changes];
}
