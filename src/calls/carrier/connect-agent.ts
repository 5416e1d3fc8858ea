import type { RelayOptions } from '../../providers/telephony/telephony.ts';
import { carrierAdapter } from '../../providers/telephony/registry.ts';
import { explainCarrierError } from '../../providers/telephony/carrier-error.ts';
import { buildCallbackUrl, buildRelayUrl } from './callback-urls.ts';
import {
  abandonUnstartedConversation,
  agentNotHeardReasons,
  type CarrierEventContext,
  hangUp,
  withEventCallObject,
} from './event-actions.ts';

/** The person hears silence during each try. */
const maxConnectTries = 2;

/** The document that connects the agent. The carrier does not request it twice, so a failure ends the call. */
export async function buildConnectDocument(call: CarrierEventContext): Promise<string> {
  const documents = call.carrier.telephony.documents!;
  try {
    return documents.connect(await buildRelay(call), buildCallbackUrl(call.carrier, call.address, 'connect'));
  } catch (error) {
    logConnectFailure(call, error);
    await abandonUnstartedConversation(call, () => agentNotHeardReasons.serviceFailed);
    return documents.hangUp();
  }
}

/** Has the carrier connect the agent by a command. After a failure the line is ended: the person should not listen to silence. */
export async function connectAgent(call: CarrierEventContext): Promise<void> {
  const { context, carrier, event } = call;
  const failure = await tryConnect(call).catch((error: unknown) => error);
  if (failure === null) return;
  logConnectFailure(call, failure);
  const wasUnstarted = await abandonUnstartedConversation(call, () =>
    failure instanceof ConnectRefusedError
      ? explainCarrierError(carrierAdapter(carrier.provider), { words: failure.message }, carrier.callbackOrigin)
      : agentNotHeardReasons.serviceFailed,
  );
  // The agent talks, so the command was done and only its answer was lost.
  if (!wasUnstarted && event.kind !== 'relay_ended') return;
  await hangUp(context, carrier, event.callId);
}

/** The carrier refused to connect the agent; the message has its words. */
class ConnectRefusedError extends Error {}

/** Sends the command, twice if necessary: its key makes a repeat harmless. */
async function tryConnect(call: CarrierEventContext): Promise<ConnectRefusedError | null> {
  const { carrier, address, event } = call;
  const key = event.kind === 'relay_ended' ? `${address.key}:${event.sessionId ?? event.at}` : address.key;
  const relay = await buildRelay(call);
  for (let attempt = 1; ; attempt++) {
    const result = await carrier.telephony.commands!.connect(event.callId, relay, key);
    if (!('failure' in result)) return null;
    if (attempt === maxConnectTries) return new ConnectRefusedError(result.failure);
  }
}

export const logConnectFailure = ({ context, address }: CarrierEventContext, error: unknown): void =>
  context.log.error('the agent could not be put on the line', error, { run_id: address.runId });

async function buildRelay(call: CarrierEventContext): Promise<RelayOptions> {
  const { carrier, address } = call;
  const { settings, clock } = call.context;
  const voice = await withEventCallObject(call, (object) => object.speechOptions());
  if (voice === null) throw new Error('the call is over');
  return { url: await buildRelayUrl(settings.SIGNING_KEY, carrier, address, clock()), hasDtmf: true, ...voice };
}
