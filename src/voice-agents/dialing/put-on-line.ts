import { connectDocument, hangUpDocument, type Relay } from '../../providers/telephony/call-document.ts';
import { explainFault } from '../../providers/telephony/carrier-fault.ts';
import { callbackUrl, relayUrl } from './callback-urls.ts';
import { endLine } from './end-line.ts';
import { giveUpUnbegunTalk, unheard } from './give-up-talk.ts';
import { askTalk, type HeardCall } from './heard-call.ts';

/** Somebody is on the line meanwhile, and hears nothing. */
const mostConnects = 2;

/** The document that puts the agent on the line. The carrier does not ask for it twice, so whatever fails ends the call. */
export async function connectingDocument(call: HeardCall): Promise<string> {
  try {
    return connectDocument(await relayFor(call), callbackUrl(call.carrier, call.address, 'connect'));
  } catch (error) {
    logUnconnected(call, error);
    await giveUpUnbegunTalk(call, () => unheard.serviceFailed);
    return hangUpDocument();
  }
}

/** Has the carrier put the agent on the line. When it cannot, the line is ended: nobody should listen to silence. */
export async function connect(call: HeardCall): Promise<void> {
  const { context, carrier, event } = call;
  const failure = await failureToConnect(call).catch((error: unknown) => error);
  if (failure === null) return;
  logUnconnected(call, failure);
  const wasUnbegun = await giveUpUnbegunTalk(call, () =>
    failure instanceof NotConnected
      ? explainFault(carrier.provider, { words: failure.message }, carrier.callbackOrigin)
      : unheard.serviceFailed,
  );
  // The agent talks: the carrier's answer was lost, and not the command.
  if (!wasUnbegun && event.kind !== 'relay_ended') return;
  await endLine(context, carrier, event.callId);
}

/** The carrier's words for why it does not do as it was told. */
class NotConnected extends Error {}

/** The same command may be given twice: it has a key. */
async function failureToConnect(call: HeardCall): Promise<NotConnected | null> {
  const { carrier, address, event } = call;
  const key = event.kind === 'relay_ended' ? `${address.key}:${event.sessionId ?? event.at}` : address.key;
  const relay = await relayFor(call);
  for (let number = 1; ; number++) {
    const result = await carrier.telephony.commands!.connect(event.callId, relay, key);
    if (!('failure' in result)) return null;
    if (number === mostConnects) return new NotConnected(result.failure);
  }
}

export const logUnconnected = ({ context, address }: HeardCall, error: unknown): void =>
  context.log.error('the agent could not be put on the line', error, { run_id: address.runId });

async function relayFor(call: HeardCall): Promise<Relay> {
  const { carrier, address } = call;
  const { settings, clock } = call.context;
  const voice = await askTalk(call, (object) => object.voice());
  if (voice === null) throw new Error('the call is over');
  return { url: await relayUrl(settings.SIGNING_KEY, carrier, address, clock()), hasDtmf: true, ...voice };
}
