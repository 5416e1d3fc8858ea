import { parseXml, XmlError, type XmlElement } from '../telephony/xml.ts';
import type { CallbackEvent } from './call-request.ts';

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

export interface DialVerb {
  verb: 'Dial';
  action?: string | undefined;
  method: 'GET' | 'POST';
  ringSeconds: number;
  limitSeconds: number;
  callerId?: string | undefined;
  to: string;
  url?: string | undefined;
  urlMethod: 'GET' | 'POST';
  statusCallback?: string | undefined;
  statusMethod: 'GET' | 'POST';
  events: Set<CallbackEvent>;
  machineDetection?: 'Enable' | 'DetectMessageEnd' | undefined;
  amdStatusCallback?: string | undefined;
}

export type Verb =
  | ConnectVerb
  | DialVerb
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
  if (name === 'Dial') return readDial(element);
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

const dialAttributes = new Set(
  `action method answerOnBridge callerId hangupOnStar record recordingStatusCallback recordingStatusCallbackEvent recordingStatusCallbackMethod
  referMethod referUrl ringTone sequential timeLimit timeout trim events`.split(/\s+/),
);
const nounAttributes = new Set(
  `url method statusCallback statusCallbackMethod statusCallbackEvent sendDigits byoc username password machineDetection
  machineDetectionTimeout amdStatusCallback amdStatusCallbackMethod`.split(/\s+/),
);

/** `<Dial>` with one number or SIP address (https://www.twilio.com/docs/voice/twiml/dial). */
function readDial({ attributes, children }: XmlElement): DialVerb {
  const [noun, more] = children;
  if (more !== undefined || (noun?.name !== 'Number' && noun?.name !== 'Sip')) throw new XmlError('12200: Dial holds one Number or Sip');
  refuseUnknown('Dial', attributes, dialAttributes);
  refuseUnknown(noun.name, noun.attributes, nounAttributes);
  const to = noun.text;
  if (noun.name === 'Number' && !/^\+[1-9]\d{6,14}$/.test(to)) throw new XmlError(`13224: Dial: Invalid phone number: ${to}`);
  if (noun.name === 'Sip' && !/^sips?:[^@\s]+@[^@\s]+$/.test(to)) throw new XmlError(`13224: Dial: Invalid SIP address: ${to}`);
  const { callerId, action } = attributes;
  if (callerId !== undefined && !/^\+[1-9]\d{6,14}$/.test(callerId)) throw new XmlError(`13214: Dial: Invalid callerId value: ${callerId}`);
  const { url, statusCallback, machineDetection, amdStatusCallback } = noun.attributes;
  if (machineDetection !== undefined && machineDetection !== 'Enable' && machineDetection !== 'DetectMessageEnd')
    throw new XmlError(`12200: invalid value for machineDetection: ${machineDetection}`);
  return {
    verb: 'Dial',
    action: action === undefined ? undefined : address(action, /^https?:$/),
    method: methodOf(attributes),
    ringSeconds: secondsOf(attributes, 'timeout', 30, 600),
    limitSeconds: secondsOf(attributes, 'timeLimit', 14_400, 86_400),
    callerId,
    to,
    url: url === undefined ? undefined : address(url, /^https?:$/),
    urlMethod: methodOf(noun.attributes),
    statusCallback: statusCallback === undefined ? undefined : address(statusCallback, /^https?:$/),
    statusMethod: noun.attributes['statusCallbackMethod'] === 'GET' ? 'GET' : 'POST',
    events: new Set((noun.attributes['statusCallbackEvent'] ?? 'completed').split(' ') as CallbackEvent[]),
    machineDetection,
    amdStatusCallback: amdStatusCallback === undefined ? undefined : address(amdStatusCallback, /^https?:$/),
  };
}

function refuseUnknown(element: string, attributes: Record<string, string>, known: ReadonlySet<string>): void {
  const unknown = Object.keys(attributes).find((name) => !known.has(name));
  if (unknown !== undefined) throw new XmlError(`12200: ${element} has no attribute ${unknown}`);
}

function secondsOf(attributes: Record<string, string>, name: string, usual: number, most: number): number {
  const value = attributes[name];
  if (value === undefined) return usual;
  if (/^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= most) return Number(value);
  throw new XmlError(`13212: Dial: Invalid ${name} value: ${value}`);
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
