import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { Refusal } from '../runs/candidate.ts';
import { flatMapInTurn } from '../../library/flat-map-in-turn.ts';
import { startRuns } from '../runs/start.ts';
import type { TriggerConfig } from './configs.ts';
import { candidateOf, causeWithContext, type TriggerCause } from './match.ts';
import { audiencePage, moveFire, openFire } from './schedule-store.ts';
import { armedById, type ArmedTrigger } from './store.ts';

/** Small, since others' messages have their turn between two pages. */
const pageSize = 100;

/**
 * Starts the runs of one firing of a schedule: one run, or one for each member of the audience, a page at a time. Runs are
 * keyed by trigger, minute and contact, so a page may be worked off twice. Answers whether another page follows.
 */
export async function handleScheduleFire(context: Context, triggerId: number, scheduledAt: number): Promise<boolean> {
  const { database, organization } = context;
  const fire = await openFire(database, organization.id, triggerId, scheduledAt);
  if (!fire) return false;
  const trigger = await database.first<ArmedTrigger>(armedById(database, organization.id, [triggerId]));
  const done = (note: string | null) => moveFire(database, fire, fire.cursor, { at: context.clock(), note });
  if (!trigger || trigger.state !== 'active' || trigger.workflow_status !== 'active') {
    await done('Trigger or workflow had become inactive');
    return false;
  }
  const { audience } = JSON.parse(trigger.config) as TriggerConfig<'schedule'>;
  if (!audience) {
    const { refused } = await startRuns(context, await candidate(context, trigger, scheduledAt, null));
    await done(refusedWords(refused));
    return false;
  }
  const ids = await audiencePage(database, organization.id, audience.list_id, fire.cursor, pageSize);
  const contacts = await findContacts(context, ids);
  const { refused } = await startRuns(
    context,
    await flatMapInTurn(contacts.values(), (contact) => candidate(context, trigger, scheduledAt, contact)),
  );
  const isLast = ids.length < pageSize;
  await moveFire(database, fire, ids.at(-1) ?? fire.cursor, { at: isLast ? context.clock() : null, note: refusedWords(refused) });
  return !isLast;
}

/** Of the first page of members where some started no run, why. */
function refusedWords(refused: Refusal[]): string | null {
  const [first] = refused;
  return first ? `${refused.length} not let in, the first: ${first.message}` : null;
}

function candidate(context: Context, trigger: ArmedTrigger, scheduledAt: number, contact: TriggerCause['contact']) {
  const key = `schedule:${scheduledAt}${contact ? `:contact:${contact.id}` : ''}`;
  return candidateOf(context, trigger, causeWithContext(key, contact, { scheduled_at: toTimestamp(scheduledAt) }));
}
