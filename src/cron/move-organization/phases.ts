import { findOrganization, type OrganizationRow } from '../../accounts/store.ts';
import type { Database } from '../../database/client.ts';
import { anchorShard } from '../../database/shard-anchors.ts';
import { clearPage } from './clear-rows.ts';
import { findDifference } from './compare.ts';
import { copyLastTables } from './copy-last-tables.ts';
import { copyRows } from './copy-rows.ts';
import { OvertakenError, writeHeld, type MoveEnds } from './ends.ts';
import { lowerFence, raiseFence } from './fence.ts';
import { findKeysAfter } from './find-keys.ts';
import { beginTransit, endTransit, setStage, setTargetStage } from './hold.ts';
import { copiedTables } from './moved-tables.ts';
import { findRemaining, replayChanges } from './replay.ts';
import { announceMove, endAnnouncement, saveMove, switchShard, type Move, type MoveChange } from './store.ts';
import { dropTriggers, installTriggers } from './triggers.ts';

export interface StepResult {
  change: MoveChange;
  /** Null: the move is over. */
  nextAfterSeconds: number | null;
  /** The next step needs the time and the queries of an invocation of its own. */
  wantsFreshInvocation?: true;
  /** The step has saved itself. */
  isSaved?: true;
}

interface StepContext {
  accounts: Database;
  /** Epoch ms. */
  now: number;
}

/** An isolate caches an organization for a minute; the work that it has started by then sees the fence. */
export const announcementMs = 65_000;
/** No invocation of a Worker or an object lasts longer. */
export const longestInvocationMs = 15 * 60_000;
/** The fence is up for as long as this takes, and longer by one page at most. */
const fenceBudgetMs = 20_000;
/** The end begins when so few changes are left, and when so little of the organization's work is under way. */
const fewChanges = 300;
const littlePending = 1000;
const maxTries = 20;

const again = (change: MoveChange, nextAfterSeconds = 0): StepResult => ({ change, nextAfterSeconds });
const over = (change: MoveChange): StepResult => ({ change, nextAfterSeconds: null });

/** Begins to note changes, and to keep the organization out of caches. */
export async function prepare(
  ends: MoveEnds,
  move: Move,
  organization: OrganizationRow | undefined,
  { accounts, now }: StepContext,
): Promise<StepResult> {
  const refusal = refusalOf(move, organization);
  if (refusal !== null) return over({ phase: 'refused', note: refusal, finished_at: now });
  await anchorShard(ends.target, move.to_shard);
  await announceMove(accounts, move);
  await beginTransit(ends, ends.target, 'arriving');
  await beginTransit(ends, ends.source, 'copying');
  await installTriggers(ends.source, ends.organizationId);
  return again({ phase: 'copying', step: 0, cursor: null, announced_at: now });
}

function refusalOf({ from_shard: from }: Move, organization: OrganizationRow | undefined): string | null {
  if (!organization) return 'There is no such organization';
  if (organization.deletingAt !== null) return 'The organization is being deleted';
  if (organization.shard !== from) return `The organization is on shard ${organization.shard}`;
  return null;
}

/** Copies a page of a table, and after the last table what has changed since. */
export async function copyPage(ends: MoveEnds, move: Move, { now }: StepContext): Promise<StepResult> {
  const table = copiedTables[move.step];
  if (!table) return copyChanges(ends, move, now);
  const { keys, next } = await findKeysAfter(ends, table, move.cursor);
  const copied = move.copied + (await copyRows(ends, table, keys));
  const step = again(next ? { copied, cursor: next } : { copied, cursor: null, step: move.step + 1 });
  // A page of calls reads a file for each.
  return table.name === 'voice_agent_run' ? { ...step, wantsFreshInvocation: true } : step;
}

async function copyChanges(ends: MoveEnds, move: Move, now: number): Promise<StepResult> {
  const replayed = await replayChanges(ends);
  const { changes, pending } = await findRemaining(ends);
  const change: MoveChange = { copied: move.copied + replayed, changes_left: changes, note: null };
  if (changes > fewChanges) return again(change);
  const announcedFor = now - (move.announced_at ?? now);
  if (announcedFor < announcementMs)
    return again({ ...change, note: 'All rows are copied; the caches that know the old shard end within a minute' }, 5);
  if (pending > littlePending)
    return again({ ...change, note: `Waits until fewer than ${littlePending} events and changes of contacts are being worked off` }, 10);
  return { change: { ...change, phase: 'fenced' }, nextAfterSeconds: 0, wantsFreshInvocation: true };
}

/** Refuses writes, copies the last changes, compares, and makes the new shard the organization's. What does not go well is put off. */
export async function finish(ends: MoveEnds, move: Move, context: StepContext): Promise<StepResult> {
  try {
    const trouble = await copyBehindFence(ends, context.now);
    if (trouble !== null) return await putOff(ends, move, trouble, context);
    if (await switchShard(context.accounts, move, context.now, context.now)) return { ...onward, change: { phase: 'left' } };
    return onward;
  } catch (error) {
    if (error instanceof OvertakenError) throw error;
    return putOff(ends, move, String((error as Error).message).slice(0, 300), context);
  }
}

const onward: StepResult = { change: {}, nextAfterSeconds: 0, isSaved: true, wantsFreshInvocation: true };

/** Null when the target has the same rows; else what is in the way. */
async function copyBehindFence(ends: MoveEnds, now: number): Promise<string | null> {
  const until = Date.now() + fenceBudgetMs;
  // A worker before this one may have compared, and died before the switch.
  await writeHeld(ends, ends.target, [setTargetStage(ends, 'arriving')]);
  await raiseFence(ends, now);
  while ((await replayChanges(ends)) > 0) if (Date.now() > until) return 'The last changes took too long';
  await copyLastTables(ends);
  const different = await findDifference(ends);
  if (different !== null) return `The rows of ${different} were not the same in both shards`;
  await writeHeld(ends, ends.target, [setTargetStage(ends, 'arrived')]);
  return null;
}

/** The organization works on where it was, and the end is tried again in a minute. The phase goes first: the shard cannot change after it. */
async function putOff(ends: MoveEnds, move: Move, note: string, { accounts, now }: StepContext): Promise<StepResult> {
  const tries = move.tries + 1;
  const change: MoveChange =
    tries < maxTries
      ? { phase: 'copying', step: copiedTables.length, tries, note }
      : { phase: 'cancelling', step: 0, cursor: null, tries, note };
  const nextAfterSeconds = tries < maxTries ? 60 : 0;
  if (!(await saveMove(accounts, move, change, now + nextAfterSeconds * 1000))) return onward;
  await lowerFence(ends);
  return { ...onward, change, nextAfterSeconds };
}

/** The target's tick takes the organization on. The source refuses writes until what began before the switch has ended. */
export async function endOfLeft(ends: MoveEnds, move: Move, { now }: StepContext): Promise<StepResult> {
  await setStage(ends, 'left');
  await endTransit(ends, ends.target);
  const left = (move.moved_at ?? now) + longestInvocationMs - now;
  if (left > 0) return again({}, Math.min(600, Math.ceil(left / 1000)));
  await dropTriggers(ends.source, ends.organizationId);
  await setStage(ends, 'clearing');
  return again({ phase: 'clearing', step: 0, cursor: null });
}

export async function clearSource(ends: MoveEnds, move: Move, { now }: StepContext): Promise<StepResult> {
  const step = await clearPage(ends, ends.source, move.step);
  if (step !== null) return again({ step });
  await endTransit(ends, ends.source);
  return over({ phase: 'moved', finished_at: now, changes_left: 0 });
}

/** The organization stays where it is: its work goes on first, then the copy is deleted. */
export async function cancelPage(ends: MoveEnds, move: Move, { accounts, now }: StepContext): Promise<StepResult> {
  const organization = await findOrganization(accounts, ends.organizationId);
  if (organization?.shard !== move.from_shard) throw new Error('an organization that has moved cannot be called back');
  if (move.step === 0) {
    await beginTransit(ends, ends.target, 'arriving');
    await beginTransit(ends, ends.source, 'copying');
    await lowerFence(ends);
    await dropTriggers(ends.source, ends.organizationId);
    await endTransit(ends, ends.source);
    await endAnnouncement(accounts, move);
    return again({ step: 1 });
  }
  const step = await clearPage(ends, ends.target, move.step - 1);
  if (step !== null) return again({ step: step + 1 });
  await endTransit(ends, ends.target);
  return over({ phase: 'cancelled', finished_at: now, changes_left: 0 });
}
