import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import { callRun } from '../../rpc.ts';
import type { MoveAnswer, MoveObstacle } from './move-obstacle.ts';
import * as store from './store.ts';

const pageSize = 50;
const maxConcurrentMoves = 10;
const maxNamedRuns = 20;
/** A run takes its steps in moments. It is asked so often whether it waits again. */
const maxBusyRounds = 3;
const busyDelayMs = 200;

/**
 * Moves a page of runs to the version of a move, in the order of their ids. Answers whether another page follows. Repeatable: a run that this move has
 * moved answers so again, and a page is recorded once.
 */
export async function processRunMove(context: Context, moveId: number): Promise<boolean> {
  const { database, organization, clock } = context;
  const move = await database.first(store.moveStatement(database, organization.id, moveId));
  if (!move || move.finished_at !== null) return false;
  const page = await database.all(
    store.nextLiveRunsStatement(database, organization.id, move.workflow_id, {
      after: move.cursor,
      upTo: move.up_to_id,
      limit: pageSize,
    }),
  );
  const answers = await moveAll(context, move, page);
  const reasons = JSON.parse(move.reasons) as store.MoveReasons;
  const held: number[] = [];
  let [moved, kept] = [0, 0];
  for (const run of page) {
    const answer = answers.get(run.id)!;
    if (answer === 'no_object' && run.workflow_version === move.version) continue;
    if (answer === 'no_object' && run.hold === 'max_active') {
      held.push(run.id);
      continue;
    }
    if (answer !== 'no_object' && answer.result === 'moved') moved += 1;
    if (answer !== 'no_object' && answer.result !== 'kept') continue;
    kept += 1;
    addReason(reasons, answer === 'no_object' ? 'not_begun' : answer.obstacle, run.id);
  }
  const isLast = page.length < pageSize;
  const cursor = page.at(-1)?.id ?? move.up_to_id;
  await store.recordMovedPage(database, move, { cursor, moved, kept, reasons, held, isLast, now: clock() });
  return !isLast;
}

function addReason(reasons: store.MoveReasons, obstacle: MoveObstacle, runId: number): void {
  const reason = (reasons[obstacle] ??= { count: 0, run_ids: [] });
  reason.count += 1;
  if (reason.run_ids.length < maxNamedRuns) reason.run_ids.push(runId);
}

type Answer = MoveAnswer | 'no_object';

async function moveAll(context: Context, move: store.MoveRow, runs: store.LiveRunRow[]): Promise<Map<number, Answer>> {
  const answers = new Map<number, Answer>();
  for (let round = 0, left = runs; left.length > 0 && round < maxBusyRounds; round++) {
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, busyDelayMs * round));
    await pMap(left, async ({ id }) => answers.set(id, await moveRun(context, move, id)), { concurrency: maxConcurrentMoves });
    left = left.filter(({ id }) => isBusy(answers.get(id)!));
  }
  return answers;
}

const isBusy = (answer: Answer): boolean => answer !== 'no_object' && answer.result === 'kept' && answer.obstacle === 'busy';

/** A run that cannot be reached delays no other: it stays on its version, and the move says so. */
async function moveRun({ bindings, organization, log }: Context, move: store.MoveRow, runId: number): Promise<Answer> {
  try {
    return await callRun(bindings, organization.id, runId, (run) => run.moveToVersion(move.version, move.id));
  } catch (error) {
    log.error('a run could not be moved to another version', error, { run_id: runId, move_id: move.id });
    return { result: 'kept', obstacle: 'unreachable' };
  }
}
