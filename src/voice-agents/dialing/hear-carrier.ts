import type { Context } from '../../accounts/context.ts';
import { hangUpDocument } from '../../providers/telephony/call-document.ts';
import type { CarrierEvent, LineEvent } from '../../providers/telephony/carrier-events.ts';
import type { Carrier } from '../telephony-configs/carrier-of.ts';
import type { CallAddress } from './callback-urls.ts';
import type { WhoAsks } from './contract.ts';
import { endLine } from './end-line.ts';
import { giveUpTalk, giveUpUnbegunTalk, unheard, whyLineEnded, whyUnheard } from './give-up-talk.ts';
import { askTalk, type HeardCall } from './heard-call.ts';
import { connect, connectingDocument, logUnconnected } from './put-on-line.ts';
import { callSlots } from './slots.ts';

/** `ignored`: no such attempt. `talk`: the agent takes the line. `hang_up`: it is to be ended. */
type Verdict = 'ignored' | 'none' | 'talk' | 'hang_up';

/** A carrier's answer to one of its requests: a document where it asked for one, else nothing but that it was heard. */
export type Heard = { document: string } | { status: 'ok' | 'ignored' };

/** Takes in what a carrier tells of one call, and does or answers what follows. Repeatable. Throws when the carrier has to tell it again. */
export async function hearCarrier(
  context: Context,
  carrier: Carrier,
  address: CallAddress,
  event: CarrierEvent,
  wantsDocument: boolean,
): Promise<Heard> {
  if (event.kind === 'recording') {
    // That there is none is no reason to make an object, which costs more than the rest of an unanswered call.
    if (event.status === 'completed') await askTalk({ context, address }, (object) => object.recorded(carrier.id, event));
    return { status: 'ok' };
  }
  const call: HeardCall = { context, carrier, address, event };
  const { commands } = carrier.telephony;
  const verdict = await verdictOn(call, wantsDocument ? 'document' : commands && isAnswer(event) ? 'command' : 'nobody');
  if (wantsDocument) return { document: verdict === 'talk' ? await connectingDocument(call) : hangUpDocument() };
  if (verdict === 'hang_up') await endLine(context, carrier, event.callId);
  if (verdict === 'talk' && commands) await connect(call);
  return { status: verdict === 'ignored' ? 'ignored' : 'ok' };
}

const isAnswer = (event: LineEvent): boolean => event.kind === 'status' && event.status === 'answered';

async function verdictOn(call: HeardCall, asks: WhoAsks): Promise<Verdict> {
  const { context, address, event } = call;
  const { bindings, organization } = context;
  const hear = (who: WhoAsks) => callSlots(bindings, organization.id, (slots) => slots.heard(address.key, address.runId, event, who));
  if (event.kind === 'relay_ended') {
    const answer = await hear('nobody');
    // It is another call than that of the attempt.
    if (answer !== 'none') return answer === 'ignored' ? 'ignored' : 'hang_up';
    const after = await askTalk(call, (object) => object.relayEnded(event));
    if (after === 'never_begun') await giveUpTalk(call, await whyUnheard(call, event));
    return after === 'connect' ? 'talk' : 'hang_up';
  }
  // Before the call slots hear of it: what they make of the end of a line is the last word.
  if (event.kind === 'status' && event.status === 'completed' && event.answeredBy !== 'machine')
    await giveUpUnbegunTalk(call, () => whyLineEnded(call));
  const answer = await hear(asks);
  if (answer === 'talk') return takeLine(call, asks);
  if (answer === 'end_talk') await askTalk(call, (object) => object.machineAnswered());
  return answer === 'end_talk' ? 'none' : answer;
}

/** Makes the agent ready to talk. */
async function takeLine(call: HeardCall, asks: WhoAsks): Promise<Verdict> {
  const { organization } = call.context;
  const { address, event } = call;
  try {
    const answer = await askTalk(call, (object) => object.begin(organization.id, address.runId, { callId: event.callId }));
    if (answer === 'ready') return 'talk';
    // A document is asked for again when the first one was lost; a command is not given twice.
    if (answer === 'talking') return asks === 'document' ? 'talk' : 'none';
    if (answer === 'unknown') await giveUpTalk(call, unheard.runOver);
    if (answer === 'unsound') await giveUpTalk(call, unheard.unsound);
  } catch (error) {
    logUnconnected(call, error);
    await giveUpTalk(call, unheard.serviceFailed);
  }
  return 'hang_up';
}
