import type { Context } from '../../context.ts';
import { findSuppressedPhones } from '../../contacts/suppressions/suppressions.ts';
import { storePayload } from '../../database/payload.ts';
import { conflict } from '../../library/errors.ts';
import { loadDialingPolicy } from '../../telephony-configs/dialing-policy.ts';
import { type CallsRequest, type Owner, ownerName, type RequestedCall } from '../contract.ts';
import { insertCallRuns, type NewCallRun, selectCallRunByKey } from './store.ts';
import { withCallSlots } from '../rpc.ts';
import { isAssignable, unassignableDetail } from '../../library/phone/assignable.ts';
import { carrierKeys } from '../../providers/telephony/registry.ts';
import { percentEncoded } from '../../library/text/clean-text.ts';

export interface CallInput {
  owner: Owner;
  /** The attempt's key. A request under the same key is the same call. */
  key: string;
  agent: { id: number; name: string; status: 'active' | 'archived' };
  /** Why the agent's definition is unsound; null or absent: it is sound, or was checked before. */
  unsound?: string | null;
  /** E.164. */
  phone: string;
  contactId: number | null;
  automationRunId: number | null;
  initialContext: Record<string, unknown>;
  /** Epoch ms after which the call must not be dialled; null: at any time. */
  notAfter: number | null;
}

/** The owner of calls that a person requests one by one. */
export const singleOwner: Owner = { kind: 'single', id: 0 };

const toCallsRequest = (owner: Owner, calls: RequestedCall[]): CallsRequest => ({ owner, epoch: 0, maxConcurrency: null, calls });

/** The request for single calls, the first time and again. */
export const toSingleCallsRequest = (calls: RequestedCall[]): CallsRequest => toCallsRequest(singleOwner, calls);

/** After this time the minute tick repeats the request for a single call, whose owner does not repeat it. */
const requestAgainAfterMs = 2 * 60_000;

/**
 * Has a person called as soon as a call slot is free, and answers the run of the call. Throws 409 when the agent is archived or not sound,
 * the number is suppressed or known to no numbering plan, or there is no telephony configuration.
 */
export async function requestCall(context: Context, input: CallInput): Promise<{ runId: number }> {
  const { database, organization, clock, bindings } = context;
  const { agent, phone, key, owner } = input;
  const known = await database.first(selectCallRunByKey(database, organization.id, key));
  if (!known) await requireCallable(context, input);
  const initialContext = await storePayload(
    bindings.FILES,
    () => `${organization.id}/calls/${percentEncoded(key)}`,
    JSON.stringify(input.initialContext),
  );
  const isSingle = owner.kind === 'single';
  const run: NewCallRun = {
    attempt_key: key,
    agent_id: agent.id,
    name: `${agent.name} to ${phone}`,
    phone,
    own_number: null,
    mode: (await loadDialingPolicy(context)).config?.provider ?? carrierKeys[0],
    call_type: 'outbound',
    contact_id: input.contactId,
    campaign_id: null,
    automation_run_id: input.automationRunId,
    initial_context: initialContext,
    wake_at: isSingle ? clock() + requestAgainAfterMs : undefined,
  };
  if (!known)
    await database.batch([insertCallRuns(database, organization.id, JSON.stringify([run]), clock())], 'voice_agent_run.attempt_key');
  const row = known ?? (await database.first(selectCallRunByKey(database, organization.id, key)));
  // The agent was archived or the number suppressed after the checks.
  if (!row) throw conflict(`The call to ${phone} was refused: its number or its agent has just been taken out; look at both and ask again`);
  const call = { key, phone, agentId: agent.id, contactId: input.contactId, initialContext, name: run.name, notAfter: input.notAfter };
  try {
    await withCallSlots(bindings, organization.id, (slots) => slots.request(organization.id, toCallsRequest(owner, [call])));
  } catch (error) {
    // A journey repeats its request by itself. A single call is stored by now, and must not be requested a second time.
    if (!isSingle) throw error;
    context.log.error('a call waits for the minute tick', error, { run_id: row.id });
    return { runId: row.id };
  }
  context.log.info('a call is queued', { owner: ownerName(owner), run_id: row.id });
  return { runId: row.id };
}

async function requireCallable(context: Context, { agent, phone, unsound }: CallInput): Promise<void> {
  if (agent.status === 'archived')
    throw conflict(`Agent ${agent.id} is archived and takes no calls; restore it with status "active" first`);
  if (unsound) throw conflict(unsound, 'agent_unsound');
  const policy = await loadDialingPolicy(context);
  if (!policy.config)
    throw conflict(
      'The organization has no telephony configuration; create one at /organizations/telephony-configs',
      'telephony_not_configured',
    );
  if (!isAssignable(phone)) throw conflict(unassignableDetail(phone), 'number_unassignable');
  const suppressed = (await findSuppressedPhones(context, [phone])).get(phone);
  if (suppressed !== undefined)
    throw conflict(`${phone} must not be called (${suppressed}); remove it from /contacts/suppressions to call it again`, 'suppressed');
}

/** Withdraws a call that has not been dialled; a dialled call goes on. Repeatable. */
export const withdrawCall = (context: Context, key: string): Promise<void> =>
  withCallSlots(context.bindings, context.organization.id, (slots) => slots.withdrawCalls(context.organization.id, [key]));
