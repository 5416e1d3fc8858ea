import { findOrganization } from '../../accounts/store.ts';
import { evictOrganizationAndKeys } from '../../accounts/authentication/identity.ts';
import type { FanoutMessage } from '../../outbox/messages.ts';
import { isQueryBudgetSpent } from '../../database/query-budget.ts';
import { catalog, shards } from '../../database/shards.ts';
import type { Logger } from '../../library/platform/log.ts';
import { OvertakenError, type MoveEnds } from './ends.ts';
import { lowerFence } from './fence.ts';
import { takeHold } from './hold.ts';
import { cancelPage, clearSource, copyPage, endOfLeft, finish, prepare, type StepResult } from './phases.ts';
import * as store from './store.ts';

/** A worker that takes longer is considered lost. */
const leaseMs = 120_000;
/** How long one message works before the rest is sent to the end of the queue. */
const budgetMs = 3000;
const retryDelaySeconds = 10;

/** Continues the move of an organization, and enqueues the rest. Repeatable, also by two messages at the same time. */
export async function processMove(bindings: Env, organizationId: number, log: Logger, clock: () => number = Date.now): Promise<void> {
  const accounts = catalog(bindings);
  let move = await store.claimMove(accounts, organizationId, clock(), clock() + leaseMs);
  if (!move) return;
  const message: FanoutMessage = { v: 1, kind: 'organization_move', organization_id: organizationId };
  const until = Date.now() + budgetMs;
  try {
    const organization = await findOrganization(accounts, organizationId);
    const ends = endsOf(bindings, move);
    if (ends && move.phase !== 'asked') await takeHold(ends);
    // A worker may have died after it put off the end.
    if (ends && move.phase === 'copying') await lowerFence(ends);
    for (;;) {
      const result: StepResult = await runStep(bindings, move, ends, { organization, now: clock() });
      if (move.phase === 'asked' || move.phase === 'fenced') evictOrganizationAndKeys(organizationId);
      const { change, nextAfterSeconds } = result;
      const dueAt = nextAfterSeconds === null ? null : clock() + nextAfterSeconds * 1000;
      const isNext = nextAfterSeconds === 0 && !result.wantsFreshInvocation && Date.now() < until && !isQueryBudgetSpent();
      // While it goes on, the claim stays its own.
      if (!result.isSaved && !(await store.saveMove(accounts, move, change, isNext ? move.due_at : dueAt))) {
        await bindings.FANOUT_QUEUE.send(message);
        return;
      }
      if (nextAfterSeconds === null) return;
      if (!isNext) return void (await bindings.FANOUT_QUEUE.send(message, { delaySeconds: nextAfterSeconds }));
      move = changed(move, change);
    }
  } catch (error) {
    if (error instanceof OvertakenError) return;
    log.error('a step of moving an organization failed', error, { organization_id: organizationId, phase: move.phase });
    const note = String((error as Error).message).slice(0, 300);
    await store.saveMove(accounts, move, { note }, clock() + retryDelaySeconds * 1000);
    await bindings.FANOUT_QUEUE.send(message, { delaySeconds: retryDelaySeconds });
  }
}

const changed = (move: store.Move, change: store.MoveChange): store.Move => ({ ...move, ...change });

type Organization = Awaited<ReturnType<typeof findOrganization>>;

/** Null when a shard is not bound. */
function endsOf(bindings: Env, { subject_id: organizationId, from_shard: from, to_shard: to, claim }: store.Move): MoveEnds | null {
  const [source, target] = [shards(bindings)[from], shards(bindings)[to]];
  return source && target && from < to ? { organizationId, source, target, files: bindings.FILES, claim } : null;
}

function runStep(
  bindings: Env,
  move: store.Move,
  ends: MoveEnds | null,
  { organization, now }: { organization: Organization; now: number },
): Promise<StepResult> {
  const isGone = !organization || organization.deletingAt !== null;
  const context = { accounts: catalog(bindings), now };
  if (!ends) return Promise.resolve({ change: { phase: 'refused', note: noteOnShards(move), finished_at: now }, nextAfterSeconds: null });
  switch (move.phase) {
    case 'asked':
      return prepare(ends, move, organization, context);
    case 'copying':
      return isGone ? callOff('The organization is being deleted') : copyPage(ends, move, context);
    case 'fenced':
      return isGone ? callOff('The organization is being deleted') : finish(ends, move, context);
    case 'left':
      return endOfLeft(ends, move, context);
    case 'clearing':
      return clearSource(ends, move, context);
    case 'cancelling':
      return cancelPage(ends, move, context);
    case 'moved':
    case 'cancelled':
    case 'refused':
      return Promise.resolve({ change: {}, nextAfterSeconds: null });
  }
}

const noteOnShards = ({ from_shard: from, to_shard: to }: store.Move): string =>
  from < to ? `There is no shard ${to}; add DB_${to} to wrangler.toml` : 'An organization moves only to a shard of a higher number';

const callOff = async (note: string): Promise<StepResult> => ({
  change: { phase: 'cancelling', step: 0, cursor: null, note },
  nextAfterSeconds: 0,
});
