import type { RelayEndEvent } from '../../providers/telephony/carrier-events.ts';
import { explainFault, lostSocket, silentEnd, type CarrierFault } from '../../providers/telephony/carrier-fault.ts';
import { askTalk, type HeardCall } from './heard-call.ts';
import { callSlots } from './slots.ts';

/** Why nobody has heard the agent, each a sentence for whoever looks for the mistake. */
export const unheard = {
  runOver: 'the run of the call had ended before it was answered',
  serviceFailed: 'the service failed when the call was answered; its log tells more',
  unsound: 'the definition of the agent has problems; POST /workflow/{id}/validate tells them',
  lineEnded: 'the line ended before the agent was on it',
};

/** The same, of a relay session that is over, in the carrier's words where it has some. */
export async function whyUnheard(call: HeardCall, { reason, fault }: RelayEndEvent): Promise<string> {
  const { provider, callbackOrigin } = call.carrier;
  switch (reason) {
    case 'lost':
      return explainFault(provider, fault ?? (await lastFault(call)) ?? lostSocket, callbackOrigin);
    case 'hung_up':
      return 'the person hung up before the agent was on the line';
    case 'ended':
      return 'the carrier ended its session before the agent was on the line';
  }
}

/** The same, of a line that has ended: the carrier may know why it did not come to talk. */
export async function whyLineEnded(call: HeardCall): Promise<string> {
  const fault = await lastFault(call);
  const { provider, callbackOrigin } = call.carrier;
  return fault ? explainFault(provider, fault, callbackOrigin) : unheard.lineEnded + silentEnd(provider);
}

const lastFault = async ({ carrier, event }: HeardCall): Promise<CarrierFault | undefined> =>
  (await carrier.telephony.faultsOf(event.callId)).at(-1);

/** Has the call settled as one on which nobody talked. Repeatable. */
export async function giveUpTalk(call: HeardCall, why: string): Promise<void> {
  const { context, address, event } = call;
  const { bindings, organization } = context;
  await callSlots(bindings, organization.id, (slots) => slots.agentNotOnLine(address.key, `agent_not_heard: ${why}`));
  await askTalk(call, (object) => object.forgo(event.callId));
}

/** The same, unless the agent has been on the line. Answers whether it had not. */
export async function giveUpUnbegunTalk(call: HeardCall, why: () => string | Promise<string>): Promise<boolean> {
  const isUnbegun = await askTalk(call, (object) => object.isUnbegun(call.event.callId));
  if (isUnbegun) await giveUpTalk(call, await why());
  return isUnbegun;
}
