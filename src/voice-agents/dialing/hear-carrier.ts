import type { Context } from '../../accounts/context.ts';
import { connectDocument, hangUpDocument, type Relay } from '../../providers/telephony/call-document.ts';
import type { CarrierEvent } from '../../providers/telephony/carrier-events.ts';
import { configurationsOf } from '../agents/configurations.ts';
import { callObject } from '../runs/call-object.ts';
import type { Carrier } from '../telephony-configs/carrier-of.ts';
import { callbackUrl, relayUrl, type CallAddress } from './callback-urls.ts';
import type { WhoAsks } from './contract.ts';
import { configurationsOfRun } from './run-rows.ts';
import { callSlots } from './slots.ts';

/** `ignored`: no such attempt. `talk`: the agent takes the line. `hang_up`: it is to be ended. */
type Verdict = 'ignored' | 'none' | 'talk' | 'hang_up';

/** A carrier's answer to one of its requests: a document where it asked for one, else nothing but that it was heard. */
export type Heard = { document: string } | { status: 'ok' | 'ignored' };

/** Takes in what a carrier tells of one call, and does or answers what follows. Repeatable. */
export async function hearCarrier(
  context: Context,
  carrier: Carrier,
  address: CallAddress,
  event: CarrierEvent,
  wantsDocument: boolean,
): Promise<Heard> {
  const verdict = await verdictOn(context, carrier, address, event, wantsDocument);
  if (wantsDocument) {
    if (verdict !== 'talk') return { document: hangUpDocument() };
    return { document: connectDocument(await relayFor(context, carrier, address), callbackUrl(carrier, address, 'connect')) };
  }
  await command(context, carrier, address, event, verdict);
  return { status: verdict === 'ignored' ? 'ignored' : 'ok' };
}

async function verdictOn(
  { bindings, organization }: Context,
  carrier: Carrier,
  address: CallAddress,
  event: CarrierEvent,
  wantsDocument: boolean,
): Promise<Verdict> {
  const { runId, key } = address;
  const call = <Answer>(ask: Parameters<typeof callObject<Answer>>[3]) => callObject(bindings, organization.id, runId, ask);
  const hear = (asks: WhoAsks) => callSlots(bindings, organization.id, (slots) => slots.heard(key, runId, event, asks));
  if (event.kind === 'recording') {
    await call((object) => object.recorded(carrier.id, event));
    return 'none';
  }
  if (event.kind === 'relay_ended') {
    if ((await hear('nobody')) === 'ignored') return 'ignored';
    return (await call((object) => object.relayEnded(event))) === 'connect' ? 'talk' : 'hang_up';
  }
  const answer = await hear(wantsDocument ? 'document' : carrier.telephony.commands && isAnswer(event) ? 'command' : 'nobody');
  if (answer === 'talk') return (await call((object) => object.begin(organization.id, runId))) ? 'talk' : 'hang_up';
  if (answer === 'end_talk') await call((object) => object.machineAnswered());
  return answer === 'end_talk' ? 'none' : answer;
}

const isAnswer = (event: CarrierEvent): boolean => event.kind === 'machine' || (event.kind === 'status' && event.status === 'answered');

/** For carriers that take commands, and for lines that are one too many. */
async function command(context: Context, carrier: Carrier, address: CallAddress, event: CarrierEvent, verdict: Verdict): Promise<void> {
  const { telephony } = carrier;
  if (verdict === 'hang_up') await telephony.hangUp(event.callId);
  if (verdict !== 'talk' || !telephony.commands) return;
  const key = event.kind === 'relay_ended' ? `${address.key}:${event.sessionId ?? event.at}` : address.key;
  const result = await telephony.commands.connect(event.callId, await relayFor(context, carrier, address), key);
  if ('failure' in result) {
    // Nobody should listen to silence: the attempt ends, and its reason says why.
    context.log.error('the agent could not be put on the line', new Error(result.failure), { run_id: address.runId });
    await telephony.hangUp(event.callId);
  }
}

async function relayFor(context: Context, carrier: Carrier, address: CallAddress): Promise<Relay> {
  const { settings, clock, database, organization } = context;
  const found = await database.first<{ configurations: string }>(configurationsOfRun(database, organization.id, address.runId));
  const { language, voice, tts_provider, transcription_provider } = configurationsOf(found ? JSON.parse(found.configurations) : {});
  return {
    url: await relayUrl(settings.SIGNING_KEY, carrier, address, clock()),
    isInterruptible: 'any',
    hasDtmf: true,
    ...(language !== null && { language }),
    ...(voice !== null && { voice }),
    ...(tts_provider !== null && { ttsProvider: tts_provider }),
    ...(transcription_provider !== null && { transcriptionProvider: transcription_provider }),
  };
}
