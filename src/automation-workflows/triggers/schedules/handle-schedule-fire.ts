import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { Refusal } from '../../runs/admission/candidate.ts';
import { flatMapSequentially } from '../../../library/collections.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import type { TriggerConfig } from '../configs.ts';
import { tryEvaluateTrigger } from '../match-trigger.ts';
import { listAudience, advanceFire, findOpenFire } from './store.ts';
import { triggersByIdStatement, type TriggerWithWorkflow } from '../store.ts';
import { causeWithContext, type RunCause } from '../../runs/cause.ts';

/** Small, so that messages of other organizations are handled between two pages. */
const pageSize = 100;

/**
 * Starts the runs of one firing of a schedule: one run, or one for each member of the audience, a page at a time. Repeatable: runs are keyed by
 * trigger, minute and contact. Answers whether another page follows.
 */
export async function handleScheduleFire(context: Context, triggerId: number, scheduledAt: number): Promise<boolean> {
  const { database, organization } = context;
  const fire = await findOpenFire(database, organization.id, triggerId, scheduledAt);
  if (!fire) return false;
  const trigger = await database.first(triggersByIdStatement(database, organization.id, [triggerId]));
  const done = (note: string | null) => advanceFire(database, fire, fire.cursor, { at: context.clock(), note });
  if (!trigger || trigger.state !== 'active' || trigger.workflow_status !== 'active') {
    await done('Trigger or workflow had become inactive');
    return false;
  }
  const { audience } = JSON.parse(trigger.config) as TriggerConfig<'schedule'>;
  if (!audience) {
    const { refused } = await startRuns(context, await findCandidates(context, trigger, scheduledAt, null));
    await done(toRefusalNote(refused));
    return false;
  }
  const ids = await listAudience(database, organization.id, audience.list_id, fire.cursor, pageSize);
  const contacts = await findContacts(context, ids);
  const { refused } = await startRuns(
    context,
    await flatMapSequentially(contacts.values(), (contact) => findCandidates(context, trigger, scheduledAt, contact)),
  );
  const isLast = ids.length < pageSize;
  await advanceFire(database, fire, ids.at(-1) ?? fire.cursor, { at: isLast ? context.clock() : null, note: toRefusalNote(refused) });
  return !isLast;
}

/** A note about the refused runs of a page; null: none were refused. */
function toRefusalNote(refused: Refusal[]): string | null {
  const [first] = refused;
  return first ? `${refused.length} not let in, the first: ${first.message}` : null;
}

function findCandidates(context: Context, trigger: TriggerWithWorkflow, scheduledAt: number, contact: RunCause['contact']) {
  const key = `schedule:${scheduledAt}${contact ? `:contact:${contact.id}` : ''}`;
  return tryEvaluateTrigger(context, trigger, causeWithContext(key, contact, { scheduled_at: toTimestamp(scheduledAt) }));
}
