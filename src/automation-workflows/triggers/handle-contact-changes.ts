import type { Context } from '../../accounts/context.ts';
import type { Contact } from '../../contacts/contact.ts';
import { contactRecord, type ContactRecord } from '../../contacts/records.ts';
import { flatMapInTurn } from '../../library/flat-map-in-turn.ts';
import { troubleOf } from '../../library/platform-trouble.ts';
import { toTimestamp } from '../../library/clock.ts';
import { evaluate, type Condition } from '../conditions.ts';
import type { Candidate } from '../runs/candidate.ts';
import { startRuns } from '../runs/start.ts';
import { changesPage, deleteChanges, discardFirstChange, type ChangeRow } from './change-store.ts';
import type { Scope } from '../templates.ts';
import { internalKey } from './internal-events.ts';
import { candidateOf, triggerScope, type TriggerCause } from './match.ts';
import { armedByTopics, noteTriggerError, type ArmedTrigger } from './store.ts';
import { isTooDeep, noteRefusedByPlan } from './kept-out.ts';

const pageSize = 500;

interface Change {
  id: number;
  before: ContactRecord | null;
  after: ContactRecord;
  depth: number;
  createdAt: number;
}

const topics = ['change:created', 'change:updated', 'event:contact.created', 'event:contact.updated'];

type Listening = ArmedTrigger & { topic: string };

/**
 * Works off one page of contact changes in order: a condition fires when it did not hold before and holds after. Repeatable:
 * runs are keyed by change and trigger, and changes are deleted last. Answers whether more are waiting.
 */
export async function handleContactChanges(context: Context): Promise<boolean> {
  const { database, organization } = context;
  const rows = await changesPage(database, organization.id, pageSize);
  if (!rows.length) return false;
  const triggers = await database.all<Listening>(armedByTopics(database, organization.id, topics));
  try {
    await workOff(context, rows, triggers);
  } catch (error) {
    if (rows.length === 1 || troubleOf(error) !== null) throw error;
    // Together they failed; one by one the sound ones get through, and the others stay.
    const failures: unknown[] = [];
    for (const row of rows) await workOff(context, [row], triggers).catch((failure: unknown) => failures.push(failure));
    if (failures.length) throw failures[0];
  }
  return rows.length === pageSize;
}

/** Takes out the change that could not be worked off for longest, and has those who listen say so. */
export async function giveUpFirstChange(context: Context, words: string): Promise<void> {
  const { database, organization } = context;
  const triggers = await database.all<Listening>(armedByTopics(database, organization.id, topics));
  for (const id of new Set(triggers.map((trigger) => trigger.id))) await noteTriggerError(database, organization.id, id, words);
  await discardFirstChange(database, organization.id);
}

async function workOff(context: Context, rows: ChangeRow[], triggers: Listening[]): Promise<void> {
  const { database, organization } = context;
  const now = context.clock();
  const candidates = await flatMapInTurn(rows, async (row) => {
    const change = changeOf(row);
    if (!change) return [];
    const listening = triggers.filter((trigger) => topicsOf(change).includes(trigger.topic));
    if (isTooDeep(context, change.depth, `a change of contact ${change.after.id}`, listening)) return [];
    return flatMapInTurn(listening, (trigger) => candidateFor(context, trigger, change, now));
  });
  const { refused } = await startRuns(context, candidates);
  noteRefusedByPlan(context, refused);
  for (const { candidate, rule, message } of refused)
    context.log.info('a contact change started no run', {
      workflow_id: candidate.workflow.id,
      contact_id: candidate.contactId,
      rule,
      message,
    });
  await deleteChanges(
    database,
    organization.id,
    rows.map((row) => row.id),
  );
}

/** Null when the contact is gone. */
function changeOf(row: ChangeRow): Change | null {
  const after = row.next_before ?? row.current;
  if (after === null) return null;
  return {
    id: row.id,
    before: row.before === null ? null : view(row.before),
    after: view(after),
    depth: row.depth,
    createdAt: row.created_at,
  };
}

const view = (json: string): ContactRecord => contactRecord(JSON.parse(json) as Contact);

const kindOf = (change: Change) => (change.before === null ? 'created' : 'updated');

const topicsOf = (change: Change): string[] => [`change:${kindOf(change)}`, `event:contact.${kindOf(change)}`];

function candidateFor(context: Context, trigger: ArmedTrigger & { topic: string }, change: Change, now: number): Promise<Candidate[]> {
  const type = `contact.${kindOf(change)}`;
  const data = { event_type: type, contact_id: change.after.id, changed_fields: changedFields(change) };
  const cause: TriggerCause = {
    // Ids of changes are given again once the table has been empty; with contact and moment they are unique.
    key: internalKey(`change:${change.after.id}:${change.createdAt}:${change.id}`),
    contact: change.after,
    event: { id: null, type, data, created_at: toTimestamp(change.createdAt) },
    webhook: null,
    source: 'run',
    sourceId: null,
    initialContext: data,
    depth: change.depth,
  };
  if (trigger.topic.startsWith('event:')) return candidateOf(context, trigger, cause);
  return candidateOf(context, trigger, cause, (config, scope) => becameTrue(context, config as ConditionConfig, change, cause, scope, now));
}

interface ConditionConfig {
  condition: Condition;
}

function becameTrue(
  context: Context,
  { condition }: ConditionConfig,
  change: Change,
  cause: TriggerCause,
  scope: Scope,
  now: number,
): boolean {
  if (!evaluate(condition, scope, now)) return false;
  return !change.before || !evaluate(condition, triggerScope(context, { ...cause, contact: change.before }, now), now);
}

const fields = ['phone', 'email', 'external_id', 'first_name', 'last_name', 'company', 'title', 'tags', 'custom_fields'] as const;

const changedFields = ({ before, after }: Change): string[] =>
  fields.filter((field) => JSON.stringify(before?.[field] ?? null) !== JSON.stringify(after[field] ?? null));
