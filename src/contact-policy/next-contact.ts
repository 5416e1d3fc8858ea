import type { Context } from '../context.ts';
import { type ContactDecision, decideContact } from './decide-contact.ts';
import { loadPersons } from './load-persons.ts';
import { channels, type Channel } from './policy.ts';
import { policyStatement, toPolicy } from './read-policy.ts';
import { oldestRelevant, toToleranceMs } from './reserve-contacts.ts';
import { selectContactsSince } from './store.ts';

/** What the policy would decide now about a call and a message to a person, whose number is in the one spelling. */
export async function decideNextContact(context: Context, phone: string): Promise<Record<Channel, ContactDecision>> {
  const { database, organization, clock } = context;
  const now = clock();
  const toleranceMs = toToleranceMs(context);
  const [policies, past] = await database.batch([
    policyStatement(context),
    selectContactsSince(database, organization.id, phone, oldestRelevant(now, toleranceMs)),
  ]);
  const policy = toPolicy(policies);
  if (!policy) return { call: { kind: 'allowed', until: null }, message: { kind: 'allowed', until: null } };
  const history = past.map(({ channel, created_at: at }) => ({ channel, at }));
  const personOf = await loadPersons(
    context,
    policy,
    channels.map((channel) => ({ phone, channel })),
  );
  const decide = (channel: Channel) => decideContact(policy, { channel, person: personOf({ phone, channel }) }, history, now, toleranceMs);
  return { call: decide('call'), message: decide('message') };
}
