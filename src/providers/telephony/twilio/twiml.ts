import type { RelayOptions } from '../telephony.ts';
import { xmlAttributes } from './xml.ts';

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

const twimlResponse = (content: string) => `<?xml version="1.0" encoding="UTF-8"?><Response>${content}</Response>`;
