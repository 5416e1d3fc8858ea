import { ServiceError } from '../../library/errors.ts';
import type { HumanEvent } from '../../providers/telephony/carrier-events.ts';
import type { HumanToDial } from '../../providers/telephony/telephony.ts';
import type { LegFact } from '../../voice-agents/conversation/transfer-leg.ts';
import type { HandOverAction, HumanOrder } from '../rpc.ts';
import { buildCallbackUrl } from './callback-urls.ts';
import { buildConnectDocument, connectAgent } from './connect-agent.ts';
import { type CarrierEventContext, hangUp, withEventCallObject } from './event-actions.ts';

/** A call that is handed to a human: its context without the event. */
export type HandOverContext = Omit<CarrierEventContext, 'event'>;

/** No call has more legs: each is requested by the model, or is a fallback. */
const maxActions = 50;
/** The caller hears silence during each try. */
const maxTries = 2;

/** The report of a carrier on the line of a human, as the conversation records it. */
const toLegFact = ({ callId, report, result, durationSeconds, isBridged, fault, at }: HumanEvent): LegFact =>
  report === 'ended'
    ? {
        fact: 'ended',
        callId,
        at,
        result: result ?? 'failed',
        ...(durationSeconds !== undefined && { seconds: durationSeconds }),
        ...(isBridged !== undefined && { isBridged }),
        ...(fault && { detail: [fault.code && `error ${fault.code}`, fault.words].filter(Boolean).join(': ') }),
      }
    : { fact: report, callId, at };

/** Records the report on the line of a human, and acts on what follows from it. Answers with a document if the carrier requested one. */
export async function processHumanEvent(
  call: HandOverContext,
  leg: number,
  event: HumanEvent,
  wantsDocument: boolean,
): Promise<{ document: string } | null> {
  const action = await withEventCallObject(call, (object) => object.humanEvent(leg, toLegFact(event)));
  if (wantsDocument) return { document: await buildHandOverDocument(call, action) };
  if (event.report === 'machine' && action.step === 'drop') await dropMachine(call, event.callId);
  else await performHandOver(call, action, event);
  return null;
}

/** Ends the line of a machine; whoever has called then comes back. A verdict is not sent again, so a failed command is. */
async function dropMachine({ context, carrier }: HandOverContext, callId: string): Promise<void> {
  const result = await carrier.telephony.hangUp(callId);
  if ('failure' in result) await hangUp(context, carrier, callId);
}

/** What the human hears before the caller, as a document. Without a call nothing is said. */
export async function buildAnnouncementDocument(call: HandOverContext, leg: number): Promise<string> {
  const { documents } = call.carrier.telephony;
  const announcement = await withEventCallObject(call, (object) => object.announcement(leg));
  return announcement ? documents!.announce(announcement.text, announcement.language) : documents!.hangUp();
}

/** The next instruction for the line of the caller, for a carrier that requested it. */
export async function buildHandOverDocument(call: HandOverContext, action: HandOverAction): Promise<string> {
  const documents = call.carrier.telephony.documents!;
  if (action.step === 'connect') return buildConnectDocument(toReconnect(call, action.callId, action.leg));
  if (action.step !== 'dial') return documents.hangUp();
  const { human } = action;
  return documents.dialHuman(toHumanToDial(call, human), {
    actionUrl: humanUrl(call, 'dialled', human.leg),
    announcementUrl: humanUrl(call, 'announcement', human.leg),
  });
}

/** Gives the carrier the commands that an action needs. A refused dialling is recorded, and acted on. Throws when the carrier has to repeat its report. */
export async function performHandOver(call: HandOverContext, first: HandOverAction, event?: HumanEvent): Promise<void> {
  const { context, carrier, address } = call;
  const { commands } = carrier.telephony;
  if (!commands) return;
  let action = first;
  for (let count = 0; count < maxActions; count++) {
    switch (action.step) {
      case 'none':
        return;
      case 'hang_up':
        return hangUp(context, carrier, action.callId);
      case 'drop':
        return event && hangUp(context, carrier, event.callId);
      case 'connect':
        return connectAgent(toReconnect(call, action.callId, action.leg));
      case 'announce':
        return requireDone(await commands.announce(event!.callId, action.text, action.language, `${address.key}:${action.leg}`), call);
      case 'bridge':
        return requireDone(await commands.bridge(action.callId, event!.callId, `${address.key}:${action.leg}`), call);
      case 'dial': {
        const refused = await dial(call, action.callId, action.human);
        if (refused === null) return;
        const { leg } = action.human;
        const failed = { fact: 'ended' as const, at: context.clock(), result: 'failed' as const, isBridged: false, detail: refused };
        action = await withEventCallObject(call, (object) => object.humanEvent(leg, failed));
      }
    }
  }
}

/** Has the carrier dial a human. Answers why it refuses; null: it dials or, without an answer, perhaps does. */
async function dial(call: HandOverContext, callId: string, human: HumanOrder): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const result = await call.carrier.telephony.commands!.dialHuman(callId, toHumanToDial(call, human));
    if ('refused' in result) return result.refused;
    if (!('failure' in result)) return null;
    call.context.log.error('a human could not be dialled', new Error(result.failure), { run_id: call.address.runId });
    // The carrier may dial: its reports, or the timer of the call, tell.
    if (tries === maxTries) return null;
  }
}

function requireDone(result: { done: true } | { gone: true } | { failure: string }, { context, address }: HandOverContext): void {
  if (!('failure' in result)) return;
  context.log.error('a human could not be connected', new Error(result.failure), { run_id: address.runId });
  throw new ServiceError('provider_failed', 'The carrier did not take the command; send this again');
}

const humanUrl = ({ carrier, address }: HandOverContext, purpose: 'human' | 'dialled' | 'announcement', leg: number): string =>
  `${buildCallbackUrl(carrier, address, purpose)}&leg=${leg}`;

const toHumanToDial = (call: HandOverContext, human: HumanOrder): HumanToDial => ({
  ...human,
  // The row of a single call is written before it is given a number.
  from: human.from ?? call.carrier.fromNumbers[0] ?? null,
  attemptKey: call.address.key,
  statusUrl: humanUrl(call, 'human', human.leg),
});

/** The agent gets the caller back, as after a lost session. */
const toReconnect = (call: HandOverContext, callId: string, leg: number): CarrierEventContext => ({
  ...call,
  event: { kind: 'relay_ended', callId, reason: 'ended', sessionId: `after-transfer-${leg}`, at: call.context.clock() },
});
