import type { Context } from '../context.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { type ContactDecision, decideContact, type Person } from './decide-contact.ts';
import { limitWindows, type PastContact } from './limit-windows.ts';
import { loadPersons } from './load-persons.ts';
import { type Channel, type ContactPolicy, maxWindowDays } from './policy.ts';
import * as store from './store.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Reservations of messages that were never stored are looked for within so many days. */
const abandonedWithinDays = 7;

/** One attempt to contact a person. */
export interface ContactAttempt {
  /** Names the attempt for good: the key of the call's attempt, or of the message. */
  key: string;
  /** The one spelling of the number (`toOnePersonSpelling`). */
  phone: string;
  channel: Channel;
  source: 'single' | 'journey' | 'campaign';
  /** The id of the campaign or of the journey's run; 0: a single contact. */
  sourceId: number;
}

/** Moments in epoch ms. `reason` is a clause with the rule's name, for people. */
export type ContactVerdict =
  /** The contact is reserved, and must begin before `until`; null: at any time. */
  | { kind: 'allowed'; until: number | null }
  | { kind: 'held'; until: number; rule: string; reason: string }
  | { kind: 'skipped'; rule: string; reason: string };

/** A contact begins at most this long after its reservation. */
export const toToleranceMs = ({ settings }: Pick<Context, 'settings'>): number => settings.CALL_ASK_WITHIN_SECONDS * 1000;

/** Contacts before this moment (epoch ms) are in no window. */
export const oldestRelevant = (now: number, toleranceMs: number): number => now - maxWindowDays * dayMs - toleranceMs - 1;

/** The moment (epoch ms) from which on all messages are in their table. Before it, a message that was sent may be in the archive. */
const oldestStored = (now: number, { settings }: Context): number =>
  now - Math.min(abandonedWithinDays * dayMs, settings.RETENTION_DAYS * dayMs - hourMs);

/**
 * Asks the policy at the moment of contact, and reserves the contacts that it allows. What is decided for one attempt counts for the next, also
 * when several callers decide at the same moment. A repeat under the same key decides anew and counts once. Give a contact that does not reach
 * its carrier or provider back.
 */
export async function reserveContacts(
  context: Context,
  policy: ContactPolicy,
  attempts: readonly ContactAttempt[],
): Promise<Map<string, ContactVerdict>> {
  const persons = await loadPersons(context, policy, attempts);
  const verdicts = new Map<string, ContactVerdict>();
  // Two attempts for one person are decided one after the other.
  for (let left = [...attempts]; left.length > 0;) {
    const first = new Map(left.toReversed().map((attempt) => [attempt.phone, attempt]));
    const round = [...first.values()];
    for (const [key, verdict] of await decideRound(context, policy, round, persons)) verdicts.set(key, verdict);
    left = left.filter((attempt) => !round.includes(attempt));
  }
  return verdicts;
}

type PersonOf = (attempt: ContactAttempt) => Person;

/** Decides attempts of different persons. */
async function decideRound(
  context: Context,
  policy: ContactPolicy,
  attempts: ContactAttempt[],
  personOf: PersonOf,
): Promise<Map<string, ContactVerdict>> {
  const { database, organization, clock } = context;
  const now = clock();
  const toleranceMs = toToleranceMs(context);
  const decide = (attempt: ContactAttempt, history: PastContact[]): ContactDecision =>
    decideContact(policy, { channel: attempt.channel, person: personOf(attempt) }, history, now, toleranceMs);
  const alone = new Map(attempts.map((attempt) => [attempt.key, decide(attempt, [])]));
  const toReserve = attempts.map((attempt): store.AttemptToReserve => {
    const decision = alone.get(attempt.key)!;
    const windows = limitWindows(policy, attempt.channel, personOf(attempt).zones, now, toleranceMs);
    return {
      ...attempt,
      limits: windows.map(({ rule, channel, after, max }) => ({ rule, channel, after, max })),
      refused: decision.kind === 'allowed' ? null : toRefusal(policy, decision),
      refusedState: policy.when_held === 'skip' ? 'skipped' : 'held',
    };
  });
  const since = oldestRelevant(now, toleranceMs);
  const moments = { now, since, storedSince: oldestStored(now, context) };
  const answers = await database.batch(store.reserve(database, organization.id, toReserve, moments), 'idempotent');
  const rows = answers[3];
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const verdicts = new Map<string, ContactVerdict>();
  const explained: store.ExplainedDecision[] = [];
  for (const attempt of attempts) {
    const before = alone.get(attempt.key)!;
    if (byKey.get(attempt.key)?.state === 'reserved' && before.kind === 'allowed') {
      verdicts.set(attempt.key, { kind: 'allowed', until: before.until });
      continue;
    }
    const history = rows
      .filter(({ phone, key, state }) => phone === attempt.phone && key !== attempt.key && state === 'reserved')
      .map(({ channel, created_at: at }): PastContact => ({ channel, at }));
    const decision = decide(attempt, history);
    const refusal = toRefusal(policy, decision.kind === 'allowed' ? undecided(now) : decision);
    explained.push({ key: attempt.key, phone: attempt.phone, ...refusal });
    verdicts.set(attempt.key, toVerdict(refusal));
  }
  if (explained.length > 0) await database.all(store.explainDecisions(database, organization.id, explained), 'idempotent');
  return verdicts;
}

const retryMs = 1000;

/** The database has refused an attempt that the rules allow by what it answers: it is decided again soon. */
const undecided = (now: number): Exclude<ContactDecision, { kind: 'allowed' }> => ({
  kind: 'waits',
  until: now + retryMs,
  rule: 'another_contact',
  detail: 'another contact with the person was decided at the same moment',
});

type Refusal = NonNullable<store.AttemptToReserve['refused']>;

function toRefusal({ when_held: whenHeld }: ContactPolicy, decision: Exclude<ContactDecision, { kind: 'allowed' }>): Refusal {
  const { rule, detail } = decision;
  const until = decision.kind === 'waits' ? decision.until : null;
  return { rule, detail, until, state: until === null || whenHeld === 'skip' ? 'skipped' : 'held' };
}

function toVerdict({ rule, detail, until, state }: Refusal): ContactVerdict {
  const reason = until === null ? `${detail} (${rule})` : `${detail} (${rule}); allowed again at ${toTimestamp(until)}`;
  return state === 'held' ? { kind: 'held', until: until!, rule, reason } : { kind: 'skipped', rule, reason };
}
