import type { RelayEndEvent } from '../../providers/telephony/carrier-events.ts';
import { explainCarrierError, socketLostError, type CarrierError } from '../../providers/telephony/carrier-error.ts';
import { carrierAdapter } from '../../providers/telephony/registry.ts';
import { withEventCallObject, type CarrierEventContext } from './carrier-event-context.ts';
import { withCallSlots } from '../slots/call-slots.ts';

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

/** Has the call settled as one on which nobody talked. Repeatable. */
export async function abandonConversation(call: CarrierEventContext, why: string): Promise<void> {
  const { context, address, event } = call;
  const { bindings, organization } = context;
  await withCallSlots(bindings, organization.id, (slots) => slots.recordAgentNotConnected(address.key, `agent_not_heard: ${why}`));
  await withEventCallObject(call, (object) => object.abandon(event.callId));
}

/** The same, unless the agent has been on the line. Answers whether it had not. */
export async function abandonUnstartedConversation(call: CarrierEventContext, why: () => string | Promise<string>): Promise<boolean> {
  const isUnbegun = await withEventCallObject(call, (object) => object.isUnstarted(call.event.callId));
  if (isUnbegun) await abandonConversation(call, await why());
  return isUnbegun;
}
