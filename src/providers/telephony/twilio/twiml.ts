import type { HumanToDial, RelayOptions } from '../telephony.ts';
import { xmlAttributes, xmlText } from './xml.ts';

export const twimlContentType = 'text/xml; charset=utf-8';

/**
 * A TwiML document (TeXML has the same words) that connects the call to the relay. After the session, however it ended, the carrier asks
 * `actionUrl` for the next instruction (https://www.twilio.com/docs/voice/twiml/connect/conversationrelay).
 */
export function connectTwiml(relay: RelayOptions, actionUrl: string): string {
  const attributes = xmlAttributes({
    url: relay.url,
    welcomeGreeting: relay.greeting,
    welcomeGreetingInterruptible: relay.isGreetingInterruptible,
    interruptible: relay.isInterruptible,
    language: relay.language,
    voice: relay.voice,
    ttsProvider: relay.ttsProvider,
    transcriptionProvider: relay.transcriptionProvider,
    speechModel: relay.speechModel,
    hints: relay.hints?.join(','),
    dtmfDetection: relay.hasDtmf,
  });
  const parameters = Object.entries(relay.parameters ?? {}).map(([name, value]) => `<Parameter${xmlAttributes({ name, value })}/>`);
  return twimlResponse(
    `<Connect${xmlAttributes({ action: actionUrl, method: 'POST' })}><ConversationRelay${attributes}>${parameters.join('')}</ConversationRelay></Connect>`,
  );
}

export const hangUpTwiml = (): string => twimlResponse('<Hangup/>');

/**
 * Dials a human (https://www.twilio.com/docs/voice/twiml/dial). The caller hears ringing until the two are connected, also during the announcement.
 * Afterwards Twilio asks `actionUrl`. The verdict of machine detection comes during the call (https://www.twilio.com/docs/voice/twiml/number).
 */
export function dialHumanTwiml(
  { to, from, isAnnounced, detectsMachines, ringSeconds, maxSeconds, statusUrl }: HumanToDial,
  { actionUrl, announcementUrl }: { actionUrl: string; announcementUrl: string },
): string {
  const dial = xmlAttributes({
    action: actionUrl,
    method: 'POST',
    answerOnBridge: true,
    timeout: ringSeconds,
    timeLimit: maxSeconds,
    callerId: from ?? undefined,
  });
  const noun = xmlAttributes({
    url: isAnnounced ? announcementUrl : undefined,
    method: isAnnounced ? 'POST' : undefined,
    statusCallback: statusUrl,
    statusCallbackMethod: 'POST',
    statusCallbackEvent: 'answered',
    machineDetection: detectsMachines ? 'Enable' : undefined,
    amdStatusCallback: detectsMachines ? statusUrl : undefined,
    amdStatusCallbackMethod: detectsMachines ? 'POST' : undefined,
  });
  const name = to.startsWith('+') ? 'Number' : 'Sip';
  return twimlResponse(`<Dial${dial}><${name}${noun}>${xmlText(to)}</${name}></Dial>`);
}

/** Says a text to a human before the caller is connected; an empty document connects at once. */
export const announceTwiml = (text: string | null, language: string | null): string =>
  twimlResponse(text === null ? '' : `<Say${xmlAttributes({ language: language ?? undefined })}>${xmlText(text)}</Say>`);

const twimlResponse = (content: string) => `<?xml version="1.0" encoding="UTF-8"?><Response>${content}</Response>`;
