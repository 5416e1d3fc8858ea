import { parseXml, XmlError, type XmlElement } from '../telephony/xml.ts';

export interface ConnectVerb {
  verb: 'Connect';
  action?: string | undefined;
  method: 'GET' | 'POST';
  relay: {
    url: string;
    greeting?: string | undefined;
    language: string;
    hasDtmf: boolean;
    parameters: Record<string, string>;
  };
}

export type Verb =
  | ConnectVerb
  | { verb: 'Hangup' }
  | { verb: 'Reject'; reason: 'busy' | 'rejected' }
  | { verb: 'Pause'; seconds: number }
  | { verb: 'Say'; text: string }
  | { verb: 'Redirect'; url: string; method: 'GET' | 'POST' };

const relayAttributes = new Set(
  `url welcomeGreeting welcomeGreetingLanguage welcomeGreetingInterruptible interruptible interruptSensitivity language ttsLanguage ttsProvider
  voice transcriptionLanguage transcriptionProvider speechModel dtmfDetection reportInputDuringAgentSpeech preemptible hints debug
  elevenlabsTextNormalization intelligenceService partialPrompts events`.split(/\s+/),
);
const interruptible = new Set([undefined, 'any', 'speech', 'dtmf', 'none', 'true', 'false']);

/** The verbs of a TwiML document, in order. Throws XmlError, in the words of the vendor's errors. */
export function readDocument(document: string): Verb[] {
  const root = parseXml(document);
  if (root.name !== 'Response') throw new XmlError('12100: the root of a document is Response');
  return root.children.map(readVerb);
}

function readVerb(element: XmlElement): Verb {
  const { name, attributes, text } = element;
  if (name === 'Connect') return readConnect(element);
  if (name === 'Hangup') return { verb: 'Hangup' };
  if (name === 'Reject') return { verb: 'Reject', reason: attributes['reason'] === 'busy' ? 'busy' : 'rejected' };
  if (name === 'Pause') return { verb: 'Pause', seconds: Number(attributes['length'] ?? 1) };
  if (name === 'Say') return { verb: 'Say', text };
  if (name === 'Redirect') return { verb: 'Redirect', url: address(text, /^https?:$/), method: methodOf(attributes) };
  throw new XmlError(`12200: nothing is simulated for the verb ${name}`);
}

const methodOf = ({ method }: Record<string, string>) => (method === 'GET' ? 'GET' : 'POST');

function readConnect({ attributes, children }: XmlElement): ConnectVerb {
  const [noun, more] = children;
  if (noun?.name !== 'ConversationRelay' || more !== undefined) throw new XmlError('12200: Connect holds one ConversationRelay');
  const given = noun.attributes;
  const unknown = Object.keys(given).find((name) => !relayAttributes.has(name));
  if (unknown !== undefined) throw new XmlError(`12200: ConversationRelay has no attribute ${unknown}`);
  for (const name of ['interruptible', 'welcomeGreetingInterruptible'])
    if (!interruptible.has(given[name])) throw new XmlError(`64101: invalid value for ${name}: ${given[name]}`);
  const action = attributes['action'];
  return {
    verb: 'Connect',
    action: action === undefined ? undefined : address(action, /^https?:$/),
    method: methodOf(attributes),
    relay: {
      url: address(given['url'] ?? '', /^wss?:$/),
      greeting: given['welcomeGreeting'],
      language: given['transcriptionLanguage'] ?? given['language'] ?? 'en-US',
      hasDtmf: given['dtmfDetection'] === 'true',
      parameters: parametersOf(noun),
    },
  };
}

function parametersOf({ children }: XmlElement): Record<string, string> {
  const others = children.find(({ name }) => name !== 'Parameter' && name !== 'Language');
  if (others) throw new XmlError(`12200: ConversationRelay holds no ${others.name}`);
  const parameters = children.filter(({ name }) => name === 'Parameter');
  return Object.fromEntries(parameters.map(({ attributes }) => [attributes['name'] ?? '', attributes['value'] ?? '']));
}

function address(text: string, protocols: RegExp): string {
  if (URL.canParse(text) && protocols.test(new URL(text).protocol)) return text;
  throw new XmlError(`21205: not an address for this: ${text}`);
}
