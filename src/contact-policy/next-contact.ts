import type { Context } from '../context.ts';
import { type ContactDecision, decideContact } from './decide-contact.ts';
import { loadPersons } from './load-persons.ts';
import { channels, type Channel } from './policy.ts';
import { policyStatement, toPolicy } from './read-policy.ts';
import { oldestRelevant, toToleranceMs } from './reserve-contacts.ts';
import { selectContactsSince } from './store.ts';

const anyTime = (): ContactDecision => ({ kind: 'allowed', until: null });

/** A rule outside of the policy, which allows calls from a moment on, epoch ms. */
export interface CallsFrom {
  moment: number;
  rule: string;
  detail: string;
}

/**
 * What would be decided now about a call and a message to a person, whose number is in the one spelling, by the policy and, of calls, by
 * `callsFrom`.
 */
export async function decideNextContact(
  context: Context,
  phone: string,
  callsFrom: CallsFrom | null,
): Promise<Record<Channel, ContactDecision>> {
  const { database, organization, clock } = context;
  const now = clock();
  const toleranceMs = toToleranceMs(context);
  const [policies, past] = await database.batch([
    policyStatement(context),
    selectContactsSince(database, organization.id, phone, oldestRelevant(now, toleranceMs)),
  ]);
  const policy = toPolicy(policies);
  if (!policy) return { call: decideFrom(callsFrom, now, anyTime), message: anyTime() };
  const history = past.map(({ channel, created_at: at }) => ({ channel, at }));
  const personOf = await loadPersons(
    context,
    policy,
    channels.map((channel) => ({ phone, channel })),
  );
  const decide = (channel: Channel, moment: number) =>
    decideContact(policy, { channel, person: personOf({ phone, channel }) }, history, moment, toleranceMs);
  return { call: decideFrom(callsFrom, now, (moment) => decide('call', moment)), message: decide('message', now) };
}

/** The decision of the policy, `decide`, and of a rule that allows nothing before a moment. The rule that holds longest is named. */
export function decideFrom(from: CallsFrom | null, now: number, decide: (moment: number) => ContactDecision): ContactDecision {
  const decided = decide(now);
  if (from === null || from.moment <= now || decided.kind === 'never') return decided;
  if (decided.kind === 'waits' && decided.until >= from.moment) return decided;
  const later = decide(from.moment);
  if (later.kind === 'never') return later;
  const { rule, detail } = from;
  return { kind: 'waits', until: later.kind === 'waits' ? later.until : from.moment, rule, detail };
}
