import { carrierAdapter } from '../../providers/telephony/registry.ts';
import type { Context } from '../../context.ts';
import { ServiceError } from '../../library/errors.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import type { CallEvent, RelayEndEvent } from '../../providers/telephony/carrier-events.ts';
import { withCallObject, withCallSlots } from '../rpc.ts';
import type { CallAddress } from './callback-urls.ts';
import { type CarrierError, explainCarrierError, socketLostError } from '../../providers/telephony/carrier-error.ts';

/** Ends a line by command. Throws when the carrier does not do it, so that it tells again what made us want it. */
export async function hangUp({ log }: Context, { telephony }: Carrier, callId: string): Promise<void> {
  const result = await telephony.hangUp(callId);
  if (!('failure' in result)) return;
  log.error('a call could not be ended', new Error(result.failure), { call_id: callId });
  throw new ServiceError('provider_failed', 'The carrier did not end the call; send this again');
}

/** What a carrier has told of the line of one call. */
export interface CarrierEventContext {
  context: Context;
  carrier: Carrier;
  address: CallAddress;
  event: CallEvent;
  /** How the call slots learn that the agent was not connected. Absent: by RPC; the slots themselves write it directly. */
  recordAgentNotConnected?: (key: string, reason: string) => Promise<void>;
}

/** Asks the object of the call. */
export const withEventCallObject = <Answer>(
  { context, address }: Pick<CarrierEventContext, 'context' | 'address'>,
  question: Parameters<typeof withCallObject<Answer>>[3],
): Promise<Answer> => withCallObject(context.bindings, context.organization.id, address.runId, question);

/** Why nobody has heard the agent, each a sentence for whoever looks for the mistake. */
export const agentNotHeardReasons = {
  runOver: 'the run of the call had ended before it was answered',
  serviceFailed: 'the service failed when the call was answered; its log tells more',
  unsound: 'the definition of the agent has problems; POST /workflow/{id}/validate tells them',
  lineEnded: 'the line ended before the agent was on it',
};

/** The same, of a relay session that is over, in the carrier's words where it has some. */
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

/** The same, of a line that has ended: the carrier may know why it did not come to talk. */
export async function explainCallEnd(call: CarrierEventContext): Promise<string> {
  const fault = await fetchLastFault(call);
  const { provider, callbackOrigin } = call.carrier;
  const adapter = carrierAdapter(provider);
  return fault ? explainCarrierError(adapter, fault, callbackOrigin) : agentNotHeardReasons.lineEnded + adapter.errorHints.unexplainedEnd;
}

const fetchLastFault = async ({ carrier, event }: CarrierEventContext): Promise<CarrierError | undefined> =>
  (await carrier.telephony.listCallErrors(event.callId)).at(-1);

/** Has the call finalized as one on which nobody talked. Repeatable. */
export async function abandonConversation(call: CarrierEventContext, reason: string): Promise<void> {
  const { context, address, event } = call;
  const detail = `agent_not_heard: ${reason}`;
  if (call.recordAgentNotConnected) await call.recordAgentNotConnected(address.key, detail);
  else await withCallSlots(context.bindings, context.organization.id, (slots) => slots.recordAgentNotConnected(address.key, detail));
  await withEventCallObject(call, (object) => object.abandon(event.callId));
}

/** The same, unless the agent has been on the line. Answers whether the agent had not been. */
export async function abandonUnstartedConversation(call: CarrierEventContext, explain: () => string | Promise<string>): Promise<boolean> {
  const isUnstarted = await withEventCallObject(call, (object) => object.isUnstarted(call.event.callId));
  if (isUnstarted) await abandonConversation(call, await explain());
  return isUnstarted;
}
