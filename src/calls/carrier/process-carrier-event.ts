import type { Context } from '../../context.ts';
import type { CarrierEvent, CallEvent, HumanEvent } from '../../providers/telephony/carrier-events.ts';
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
import { buildHandOverDocument, performHandOver, processHumanEvent } from './hand-over.ts';
import { type HandOverAction, withCallSlots } from '../rpc.ts';

/** `ignored`: no such attempt. `talk`: connect the agent. `hang_up`: end the line. Else the caller is handed to a human. */
type CarrierInstruction = 'ignored' | 'none' | 'talk' | 'hang_up' | HandOverAction;

/** The answer to a carrier's request: a document if it requested one, else an acknowledgement. */
export type CarrierResponse = { document: string } | { status: 'ok' | 'ignored' };

/**
 * Records a carrier's event of one call, and acts on it or answers with the next instruction. Repeatable. Throws when the carrier has to
 * repeat the event. `leg`: the number of the transfer in the address, for reports on the line of a human.
 */
export async function processCarrierEvent(
  context: Context,
  carrier: Carrier,
  address: CallAddress,
  event: CarrierEvent,
  wantsDocument: boolean,
  leg?: number,
): Promise<CarrierResponse> {
  const human = toHumanEvent(event, leg);
  if (human) {
    const number = human.leg ?? leg;
    if (number === undefined) return { status: 'ignored' };
    return (await processHumanEvent({ context, carrier, address }, number, human, wantsDocument)) ?? { status: 'ok' };
  }
  if (event.kind === 'human' || (event.kind === 'machine' && leg !== undefined)) return { status: 'ok' };
  if (event.kind === 'recording') {
    // A missing recording does not create an object, which would cost more than the rest of an unanswered call.
    if (event.status === 'completed') await withEventCallObject({ context, address }, (object) => object.recordingReady(carrier.id, event));
    return { status: 'ok' };
  }
  const call: CarrierEventContext = { context, carrier, address, event };
  const { commands } = carrier.telephony;
  const instruction = await resolveInstruction(call, wantsDocument ? 'document' : commands && isAnswer(event) ? 'command' : 'nobody');
  if (typeof instruction === 'object') {
    if (wantsDocument) return { document: await buildHandOverDocument(call, instruction) };
    await performHandOver(call, instruction);
    return { status: 'ok' };
  }
  if (wantsDocument) return { document: instruction === 'talk' ? await buildConnectDocument(call) : carrier.telephony.documents!.hangUp() };
  if (instruction === 'hang_up') await hangUp(context, carrier, event.callId);
  if (instruction === 'talk' && commands) await connectAgent(call);
  return { status: instruction === 'ignored' ? 'ignored' : 'ok' };
}

/** The report on the line of a human. A verdict of machine detection is one if its address names a transfer; undefined: it is none, or says nothing new. */
function toHumanEvent(event: CarrierEvent, leg: number | undefined): HumanEvent | undefined {
  if (event.kind === 'human') return event;
  if (event.kind !== 'machine' || leg === undefined || event.answeredBy !== 'machine') return undefined;
  return { kind: 'human', callId: event.callId, report: 'machine', at: event.at };
}

const isAnswer = (event: CallEvent): boolean => event.kind === 'status' && event.status === 'answered';

async function resolveInstruction(call: CarrierEventContext, channel: ResponseChannel): Promise<CarrierInstruction> {
  const { context, address, event } = call;
  const { bindings, organization } = context;
  const record = (answerChannel: ResponseChannel) =>
    withCallSlots(bindings, organization.id, (slots) => slots.recordEvent(address.key, address.runId, event, answerChannel));
  if (event.kind === 'relay_ended') {
    const answer = await record('nobody');
    // The event is about another call than the attempt's.
    if (answer !== 'none') return answer === 'ignored' ? 'ignored' : 'hang_up';
    const line = { configId: call.carrier.id, takesCommands: call.carrier.telephony.commands !== undefined };
    const action = await withEventCallObject(call, (object) => object.relayEnded(event, line));
    if (typeof action === 'object') return action;
    if (action === 'never_begun') await abandonConversation(call, await explainRelayEnd(call, event));
    return action === 'connect' ? 'talk' : 'hang_up';
  }
  // Before the call slots record the event: they take the end of the line as final.
  if (event.kind === 'status' && event.status === 'completed' && event.answeredBy !== 'machine')
    await abandonUnstartedConversation(call, () => explainCallEnd(call));
  const answer = await record(channel);
  if (answer === 'talk') return prepareAgent(call, channel);
  const isGreetingOver = event.kind === 'machine' && event.isGreetingOver === true;
  if (answer === 'end_talk') await withEventCallObject(call, (object) => object.machineAnswered(isGreetingOver));
  return answer === 'end_talk' ? 'none' : answer;
}

/** Prepares the conversation before the agent is connected. */
async function prepareAgent(call: CarrierEventContext, channel: ResponseChannel): Promise<CarrierInstruction> {
  const { organization } = call.context;
  const { address, event } = call;
  try {
    const answer = await withEventCallObject(call, (object) => object.begin(organization.id, address.runId, { callId: event.callId }));
    if (answer === 'ready') return 'talk';
    // A carrier requests a document again when the first was lost. A command is not sent twice.
    if (answer === 'talking') return channel === 'document' ? 'talk' : 'none';
    if (answer === 'unknown') await abandonConversation(call, agentNotHeardReasons.runOver);
    if (answer === 'unsound') await abandonConversation(call, agentNotHeardReasons.unsound);
  } catch (error) {
    logConnectFailure(call, error);
    await abandonConversation(call, agentNotHeardReasons.serviceFailed);
  }
  return 'hang_up';
}
