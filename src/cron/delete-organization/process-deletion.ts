import type { Context } from '../../context.ts';
import * as store from '../../accounts/deletion/store.ts';
import { deletedOrganizationContext } from '../../accounts/organizations/background-context.ts';
import { catalog } from '../../database/shards.ts';
import { isQueryBudgetSpent } from '../../database/query-budget.ts';
import type { FanoutMessage } from '../../outbox/messages.ts';
import { findMove, isOver } from '../move-organization/store.ts';
import { deletionSteps } from './steps.ts';

/** How long one message works before the rest is sent to the end of the queue. */
const budgetMs = 3000;
const retryDelaySeconds = 5;

/** Continues the deletion of an organization, and enqueues the rest. Repeatable, also by two messages at the same time. */
export async function processDeletion(bindings: Env, organizationId: number, defer: Context['defer']): Promise<void> {
  const accounts = catalog(bindings);
  const deletion = await store.findOpenDeletion(accounts, organizationId);
  if (!deletion) return;
  const message: FanoutMessage = { v: 1, kind: 'deletion', organization_id: organizationId };
  // Its rows may be in two shards, and the move calls itself off or ends.
  const move = await findMove(accounts, organizationId);
  if (move && !isOver(move)) return void (await bindings.FANOUT_QUEUE.send(message, { delaySeconds: retryDelaySeconds }));
  const context = await deletedOrganizationContext(bindings, organizationId, defer);
  if (!context) return store.finishDeletion(accounts, deletion, Date.now());
  const until = Date.now() + budgetMs;
  let at = fromStoredStep(deletion.step);
  let stored = deletion.step;
  for (let pages = 0; at < deletionSteps.length; pages++) {
    if (pages > 0 && (Date.now() > until || isQueryBudgetSpent())) return void (await bindings.FANOUT_QUEUE.send(message));
    const { next, removed } = await deletionSteps[at]!.runPage(context, { requestedAt: deletion.createdAt });
    const step = next === 'done' ? at + 1 : at;
    const to = toStoredStep(step);
    await store.advanceDeletion(accounts, deletion, { from: stored, to, removed, dueAt: context.clock() + retryDelaySeconds * 1000 });
    stored = to;
    if (next === 'later') return void (await bindings.FANOUT_QUEUE.send(message, { delaySeconds: retryDelaySeconds }));
    at = step;
  }
  await store.finishDeletion(accounts, deletion, context.clock());
}

/** The stored form of a step. It contains the length of the list of steps: a version with another list begins at its first step. */
const toStoredStep = (at: number): number => deletionSteps.length * 1000 + at;
export const fromStoredStep = (stored: number): number => (Math.floor(stored / 1000) === deletionSteps.length ? stored % 1000 : 0);
