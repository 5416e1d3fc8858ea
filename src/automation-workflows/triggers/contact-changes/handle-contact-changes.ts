import type { Context } from '../../../context.ts';
import type { Contact } from '../../../contacts/contacts/contact.ts';
import { toContactRecord, type ContactRecord } from '../../../contacts/contacts/records.ts';
import { flatMapSequentially } from '../../../library/collections.ts';
import { platformErrorKind } from '../../../library/platform/platform-errors.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { evaluateCondition, type Condition } from '../../../expressions/conditions/condition.ts';
import type { RunCandidate } from '../../runs/admission/candidate.ts';
import { startRuns } from '../../runs/admission/start-runs.ts';
import { listChanges, deleteChanges, discardFirstChange, type ChangeRow } from './store.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import { toInternalKey } from '../../internal-events.ts';
import { tryEvaluateTrigger, isTooDeep, recordPlanRefusals } from '../match-trigger.ts';
import { triggersByTopicsStatement, recordTriggerError, type TriggerWithTopic } from '../store.ts';
import { buildCauseScope, type RunCause } from '../../runs/cause.ts';

const pageSize = 500;

interface ContactChange {
  id: number;
  before: ContactRecord | null;
  after: ContactRecord;
  depth: number;
  createdAt: number;
}

const topics = ['change:created', 'change:updated', 'event:contact.created', 'event:contact.updated'];

/**
 * Handles one page of contact changes in order. A condition fires when it was false before the change and is true after it. Repeatable: runs
 * are keyed by change and trigger, and changes are deleted last. Answers whether another page follows.
 */
export async function handleContactChanges(context: Context): Promise<boolean> {
  const { database, organization } = context;
  const rows = await listChanges(database, organization.id, pageSize);
  if (!rows.length) return false;
  const triggers = await database.all(triggersByTopicsStatement(database, organization.id, topics));
  try {
    await processChanges(context, rows, triggers);
  } catch (error) {
    if (rows.length === 1 || platformErrorKind(error) !== null) throw error;
    // The page failed as a whole. One by one, the good changes are handled; the bad ones stay.
    const failures: unknown[] = [];
    for (const row of rows) await processChanges(context, [row], triggers).catch((failure: unknown) => failures.push(failure));
    if (failures.length) throw failures[0];
  }
  return rows.length === pageSize;
}

/** Deletes the oldest change, which cannot be handled, and records `message` in the `last_error` of all listening triggers. */
export async function discardFailedChange(context: Context, message: string): Promise<void> {
  const { database, organization } = context;
  const triggers = await database.all(triggersByTopicsStatement(database, organization.id, topics));
  for (const id of new Set(triggers.map((trigger) => trigger.id))) await recordTriggerError(database, organization.id, id, message);
  await discardFirstChange(database, organization.id);
}

async function processChanges(context: Context, rows: ChangeRow[], triggers: TriggerWithTopic[]): Promise<void> {
  const { database, organization } = context;
  const now = context.clock();
  const candidates = await flatMapSequentially(rows, async (row) => {
    const change = toContactChange(row);
    if (!change) return [];
    const listening = triggers.filter((trigger) => toTopics(change).includes(trigger.topic));
    if (isTooDeep(context, change.depth, `a change of contact ${change.after.id}`, listening)) return [];
    return flatMapSequentially(listening, (trigger) => findCandidates(context, trigger, change, now));
  });
  const { refused } = await startRuns(context, candidates);
  recordPlanRefusals(context, refused);
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

/** The change of a row; null when the contact is deleted. */
function toContactChange(row: ChangeRow): ContactChange | null {
  const after = row.next_before ?? row.current;
  if (after === null) return null;
  return {
    id: row.id,
    before: row.before === null ? null : parseContactRecord(row.before),
    after: parseContactRecord(after),
    depth: row.depth,
    createdAt: row.created_at,
  };
}

const parseContactRecord = (json: string): ContactRecord => toContactRecord(JSON.parse(json) as Contact);

const toChangeKind = (change: ContactChange) => (change.before === null ? 'created' : 'updated');

const toTopics = (change: ContactChange): string[] => [`change:${toChangeKind(change)}`, `event:contact.${toChangeKind(change)}`];

function findCandidates(context: Context, trigger: TriggerWithTopic, change: ContactChange, now: number): Promise<RunCandidate[]> {
  const type = `contact.${toChangeKind(change)}`;
  const data = { event_type: type, contact_id: change.after.id, changed_fields: findChangedFields(change) };
  const cause: RunCause = {
    // Ids of changes are reused once the table has been empty. With contact and moment they are unique.
    key: toInternalKey(`change:${change.after.id}:${change.createdAt}:${change.id}`),
    contact: change.after,
    event: { id: null, type, data, created_at: toTimestamp(change.createdAt) },
    webhook: null,
    source: 'run',
    sourceId: null,
    initialContext: data,
    depth: change.depth,
  };
  if (trigger.topic.startsWith('event:')) return tryEvaluateTrigger(context, trigger, cause);
  return tryEvaluateTrigger(context, trigger, cause, (config, scope) =>
    hasBecomeTrue(context, config as ConditionConfig, change, cause, scope, now),
  );
}

interface ConditionConfig {
  condition: Condition;
}

function hasBecomeTrue(
  context: Context,
  { condition }: ConditionConfig,
  change: ContactChange,
  cause: RunCause,
  scope: Scope,
  now: number,
): boolean {
  if (!evaluateCondition(condition, scope, now)) return false;
  return !change.before || !evaluateCondition(condition, buildCauseScope(context, { ...cause, contact: change.before }, now), now);
}

const comparedFields = ['phone', 'email', 'external_id', 'first_name', 'last_name', 'company', 'title', 'tags', 'custom_fields'] as const;

const findChangedFields = ({ before, after }: ContactChange): string[] =>
  comparedFields.filter((field) => JSON.stringify(before?.[field] ?? null) !== JSON.stringify(after[field] ?? null));
