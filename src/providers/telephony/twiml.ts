import { xmlAttributes } from './xml.ts';

export type Interruptible = 'any' | 'speech' | 'dtmf' | 'none';

/** How an answered call is joined to our WebSocket: the carrier listens and speaks, the frames carry text. */
export interface RelayOptions {
  /** wss:// address. What it needs to know goes into `parameters`: carriers do not promise to pass a query on. */
  url: string;
  /** Said by the carrier at once, before the first frame of ours. */
  greeting?: string;
  isGreetingInterruptible?: Interruptible;
  isInterruptible?: Interruptible;
  /** BCP 47, for what is heard and said. */
  language?: string;
  voice?: string;
  ttsProvider?: string;
  transcriptionProvider?: string;
  /** Of the transcription. */
  speechModel?: string;
  /** Words that are to be recognized. Telnyx is not told them. */
  hints?: readonly string[];
  hasDtmf?: boolean;
  /** Come back in the `customParameters` of the setup frame. */
  parameters?: Record<string, string>;
}

export const twimlContentType = 'text/xml; charset=utf-8';

const twimlResponse = (content: string) => `<?xml version="1.0" encoding="UTF-8"?><Response>${content}</Response>`;

/**
 * TwiML, and TeXML, which has the same words: joins the call to the relay. When the session is over, however that came, the carrier asks
 * `actionUrl` what to do next (https://www.twilio.com/docs/voice/twiml/connect/conversationrelay).
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
