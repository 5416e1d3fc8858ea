import type { Context } from '../../context.ts';
import type { CarrierEvent, CallEvent } from '../../providers/telephony/carrier-events.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import type { CallAddress } from './callback-urls.ts';
import type { ResponseChannel } from '../contract.ts';
import {
  abandonConversation,
  abandonUnstartedConversation,
  agentNotHeardReasons,
  type CarrierEventContext,
  explainCallEnd,
  explainRelayEnd,
  hangUp,
  withEventCallObject,
} from './event-actions.ts';
import { buildConnectDocument, connectAgent, logConnectFailure } from './connect-agent.ts';
import { withCallSlots } from '../rpc.ts';

/** `ignored`: no such attempt. `talk`: the agent takes the line. `hang_up`: it is to be ended. */
type CarrierInstruction = 'ignored' | 'none' | 'talk' | 'hang_up';

/** A carrier's answer to one of its requests: a document where it asked for one, else nothing but that it was heard. */
export type CarrierResponse = { document: string } | { status: 'ok' | 'ignored' };

/** Takes in what a carrier tells of one call, and does or answers what follows. Repeatable. Throws when the carrier has to tell it again. */
export async function processCarrierEvent(
  context: Context,
  carrier: Carrier,
  address: CallAddress,
  event: CarrierEvent,
  wantsDocument: boolean,
): Promise<CarrierResponse> {
  if (event.kind === 'recording') {
    // That there is none is no reason to make an object, which costs more than the rest of an unanswered call.
    if (event.status === 'completed') await withEventCallObject({ context, address }, (object) => object.recordingReady(carrier.id, event));
    return { status: 'ok' };
  }
  const call: CarrierEventContext = { context, carrier, address, event };
  const { commands } = carrier.telephony;
  const instruction = await resolveInstruction(call, wantsDocument ? 'document' : commands && isAnswer(event) ? 'command' : 'nobody');
  if (wantsDocument) return { document: instruction === 'talk' ? await buildConnectDocument(call) : carrier.telephony.documents!.hangUp() };
  if (instruction === 'hang_up') await hangUp(context, carrier, event.callId);
  if (instruction === 'talk' && commands) await connectAgent(call);
  return { status: instruction === 'ignored' ? 'ignored' : 'ok' };
}

const isAnswer = (event: CallEvent): boolean => event.kind === 'status' && event.status === 'answered';

async function resolveInstruction(call: CarrierEventContext, asks: ResponseChannel): Promise<CarrierInstruction> {
  const { context, address, event } = call;
  const { bindings, organization } = context;
  const record = (who: ResponseChannel) =>
    withCallSlots(bindings, organization.id, (slots) => slots.recordEvent(address.key, address.runId, event, who));
  if (event.kind === 'relay_ended') {
    const answer = await record('nobody');
    // It is another call than that of the attempt.
    if (answer !== 'none') return answer === 'ignored' ? 'ignored' : 'hang_up';
    const after = await withEventCallObject(call, (object) => object.relayEnded(event));
    if (after === 'never_begun') await abandonConversation(call, await explainRelayEnd(call, event));
    return after === 'connect' ? 'talk' : 'hang_up';
  }
  // Before the call slots hear of it: what they make of the end of a line is the last word.
  if (event.kind === 'status' && event.status === 'completed' && event.answeredBy !== 'machine')
    await abandonUnstartedConversation(call, () => explainCallEnd(call));
  const answer = await record(asks);
  if (answer === 'talk') return prepareAgent(call, asks);
  if (answer === 'end_talk') await withEventCallObject(call, (object) => object.machineAnswered());
  return answer === 'end_talk' ? 'none' : answer;
}

/** Makes the agent ready to talk. */
async function prepareAgent(call: CarrierEventContext, asks: ResponseChannel): Promise<CarrierInstruction> {
  const { organization } = call.context;
  const { address, event } = call;
  try {
    const answer = await withEventCallObject(call, (object) => object.begin(organization.id, address.runId, { callId: event.callId }));
    if (answer === 'ready') return 'talk';
    // A document is asked for again when the first one was lost; a command is not given twice.
    if (answer === 'talking') return asks === 'document' ? 'talk' : 'none';
    if (answer === 'unknown') await abandonConversation(call, agentNotHeardReasons.runOver);
    if (answer === 'unsound') await abandonConversation(call, agentNotHeardReasons.unsound);
  } catch (error) {
    logConnectFailure(call, error);
    await abandonConversation(call, agentNotHeardReasons.serviceFailed);
  }
  return 'hang_up';
}
