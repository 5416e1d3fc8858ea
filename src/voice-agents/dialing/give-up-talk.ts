import type { RelayEndEvent } from '../../providers/telephony/carrier-events.ts';
import { askTalk, type HeardCall } from './heard-call.ts';
import { callSlots } from './slots.ts';

/** Why nobody has heard the agent, each a sentence for whoever looks for the mistake. */
export const unheard = {
  runOver: 'the run of the call had ended before it was answered',
  serviceFailed: 'the service failed when the call was answered; its log tells more',
  notConnected: 'the carrier did not connect the call with the agent; the log of the service tells more',
  lineEnded: 'the line ended before the agent was on it',
};

/** The same, of a relay session that is over. */
export function whyUnheard({ reason }: RelayEndEvent, publicUrl: string): string {
  switch (reason) {
    case 'lost':
      return `the carrier could not open the socket of the call; check that PUBLIC_URL (${publicUrl}) can be reached by WebSocket`;
    case 'hung_up':
      return 'the person hung up before the agent was on the line';
    case 'ended':
      return 'the carrier ended its session before the agent was on the line';
  }
}

/** Has the call settled as one on which nobody talked. Repeatable. */
export async function giveUpTalk(call: HeardCall, why: string): Promise<void> {
  const { context, address, event } = call;
  const { bindings, organization } = context;
  await callSlots(bindings, organization.id, (slots) => slots.agentNotOnLine(address.key, `agent_not_heard: ${why}`));
  await askTalk(call, (object) => object.forgo(event.callId));
}

/** The same, unless the agent has been on the line. Answers whether it had not. */
export async function giveUpUnbegunTalk(call: HeardCall, why: string): Promise<boolean> {
  const isUnbegun = await askTalk(call, (object) => object.isUnbegun(call.event.callId));
  if (isUnbegun) await giveUpTalk(call, why);
  return isUnbegun;
}
