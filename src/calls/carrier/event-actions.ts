import { carrierAdapter } from '../../providers/telephony/registry.ts';
import type { Context } from '../../context.ts';
import { ServiceError } from '../../library/errors.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import type { CallEvent, RelayEndEvent } from '../../providers/telephony/carrier-events.ts';
import { withCallObject, withCallSlots } from '../rpc.ts';
import type { CallAddress } from './callback-urls.ts';
import { type CarrierError, explainCarrierError, socketLostError } from '../../providers/telephony/carrier-error.ts';

/** Ends a line by a command. Throws when the carrier fails, so that the carrier repeats its callback. */
export async function hangUp({ log }: Context, { telephony }: Carrier, callId: string): Promise<void> {
  const result = await telephony.hangUp(callId);
  if (!('failure' in result)) return;
  log.error('a call could not be ended', new Error(result.failure), { call_id: callId });
  throw new ServiceError('provider_failed', 'The carrier did not end the call; send this again');
}

/** A carrier's report on the line of one call, with all that is needed to act on it. */
export interface CarrierEventContext {
  context: Context;
  carrier: Carrier;
  address: CallAddress;
  event: CallEvent;
  /** Notifies the call slots that the agent was not connected. Absent: by RPC. The slots' own checks write it directly. */
  recordAgentNotConnected?: (key: string, reason: string) => Promise<void>;
}

/** Calls the object of the call. */
export const withEventCallObject = <Answer>(
  { context, address }: Pick<CarrierEventContext, 'context' | 'address'>,
  question: Parameters<typeof withCallObject<Answer>>[3],
): Promise<Answer> => withCallObject(context.bindings, context.organization.id, address.runId, question);

/** Why the agent was not connected, each as a sentence for the person who looks for the cause. */
export const agentNotHeardReasons = {
  runOver: 'the run of the call had ended before it was answered',
  serviceFailed: 'the service failed when the call was answered; its log tells more',
  unsound: 'the definition of the agent has problems; POST /workflow/{id}/validate tells them',
  lineEnded: 'the line ended before the agent was on it',
};

/** Why the agent was not connected, from the end of a relay session; in the carrier's words if it has some. */
export async function explainRelayEnd(call: CarrierEventContext, { reason, fault }: RelayEndEvent): Promise<string> {
  const { provider, callbackOrigin } = call.carrier;
  switch (reason) {
    case 'lost':
      return explainCarrierError(carrierAdapter(provider), fault ?? (await fetchLastFault(call)) ?? socketLostError, callbackOrigin);
    case 'hung_up':
      return 'the person hung up before the agent was on the line';
    case 'ended':
      return 'the carrier ended its session before the agent was on the line';
  }
}

/** Why the agent was not connected, from the end of the line; in the carrier's words if it has some. */
export async function explainCallEnd(call: CarrierEventContext): Promise<string> {
  const fault = await fetchLastFault(call);
  const { provider, callbackOrigin } = call.carrier;
  const adapter = carrierAdapter(provider);
  return fault ? explainCarrierError(adapter, fault, callbackOrigin) : agentNotHeardReasons.lineEnded + adapter.errorHints.unexplainedEnd;
}

const fetchLastFault = async ({ carrier, event }: CarrierEventContext): Promise<CarrierError | undefined> =>
  (await carrier.telephony.listCallErrors(event.callId)).at(-1);

/** Has the call finalized as one on which the agent did not talk. Repeatable. */
export async function abandonConversation(call: CarrierEventContext, reason: string): Promise<void> {
  const { context, address, event } = call;
  const detail = `agent_not_heard: ${reason}`;
  if (call.recordAgentNotConnected) await call.recordAgentNotConnected(address.key, detail);
  else await withCallSlots(context.bindings, context.organization.id, (slots) => slots.recordAgentNotConnected(address.key, detail));
  await withEventCallObject(call, (object) => object.abandon(event.callId));
}

/** Abandons the conversation unless the agent was connected. Answers whether the conversation was abandoned. */
export async function abandonUnstartedConversation(call: CarrierEventContext, explain: () => string | Promise<string>): Promise<boolean> {
  const isUnstarted = await withEventCallObject(call, (object) => object.isUnstarted(call.event.callId));
  if (isUnstarted) await abandonConversation(call, await explain());
  return isUnstarted;
}
