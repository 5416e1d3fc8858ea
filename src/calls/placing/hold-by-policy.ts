import type { Context } from '../../context.ts';
import { parseStoredPolicy } from '../../contact-policy/read-policy.ts';
import { reserveContacts } from '../../contact-policy/reserve-contacts.ts';
import { toOnePersonSpelling } from '../../library/phone/one-person.ts';
import type { PreparedCall } from './prepared-call.ts';

/**
 * Asks the contact policy (JSON text) about the calls that are ready, and refuses those that it does not allow now. A call that is allowed is
 * reserved before the carrier is asked.
 */
export async function holdByPolicy(context: Context, policy: string, prepared: PreparedCall[]): Promise<PreparedCall[]> {
  const ready = prepared.filter(({ ready: call, refusal, isRunCompleted }) => call && !refusal && !isRunCompleted);
  if (ready.length === 0) return prepared;
  const verdicts = await reserveContacts(
    context,
    parseStoredPolicy(policy),
    ready.map(({ call: { key, phone, owner } }) => ({
      key,
      phone: toOnePersonSpelling(phone),
      channel: 'call' as const,
      source: owner.kind,
      sourceId: owner.id,
    })),
  );
  return prepared.map((each): PreparedCall => {
    const verdict = verdicts.get(each.call.key);
    if (!verdict) return each;
    if (verdict.kind === 'allowed') return { ...each, ready: { ...each.ready!, allowedUntil: verdict.until } };
    const until = verdict.kind === 'held' ? verdict.until : null;
    return { ...each, refusal: { refused: 'contact_policy', detail: verdict.reason, until } };
  });
}
