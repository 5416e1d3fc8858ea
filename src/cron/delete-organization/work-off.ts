import type { Context } from '../../accounts/context.ts';
import * as store from '../../accounts/deletion-store.ts';
import { contextOfDeleted } from '../../accounts/organizations.ts';
import { catalog } from '../../database/shards.ts';
import { isQueryBudgetSpent } from '../../database/invocation.ts';
import type { FanoutMessage } from '../../queues/messages.ts';
import { steps } from './steps.ts';

/** What one message does at most; then it goes to the end of the queue. */
const budgetMs = 3000;
const laterSeconds = 5;

/** Goes on with taking an organization away, and sends for what is left. Repeatable; two at a time do each other's work. */
export async function workOffDeletion(bindings: Env, organizationId: number, defer: Context['defer']): Promise<void> {
  const accounts = catalog(bindings);
  const deletion = await store.openDeletion(accounts, organizationId);
  if (!deletion) return;
  const message: FanoutMessage = { v: 1, kind: 'deletion', organization_id: organizationId };
  const context = await contextOfDeleted(bindings, organizationId, defer);
  if (!context) return store.finishDeletion(accounts, deletion, Date.now());
  const until = Date.now() + budgetMs;
  let at = stepOf(deletion.step);
  let stored = deletion.step;
  for (let pages = 0; at < steps.length; pages++) {
    if (pages > 0 && (Date.now() > until || isQueryBudgetSpent())) return void (await bindings.FANOUT_QUEUE.send(message));
    const { next, removed } = await steps[at]!.page(context, { at: deletion.createdAt });
    const step = next === 'done' ? at + 1 : at;
    const to = storedStep(step);
    await store.moveDeletion(accounts, deletion, { from: stored, to, removed, dueAt: context.clock() + laterSeconds * 1000 });
    stored = to;
    if (next === 'later') return void (await bindings.FANOUT_QUEUE.send(message, { delaySeconds: laterSeconds }));
    at = step;
  }
  await store.finishDeletion(accounts, deletion, context.clock());
}

/** How a step is written down: with the length of the list, since a new version may have another one, which is then begun anew. */
const storedStep = (at: number): number => steps.length * 1000 + at;
export const stepOf = (stored: number): number => (Math.floor(stored / 1000) === steps.length ? stored % 1000 : 0);
