/** What went wrong with a call, in the carrier's own words. */
export interface CarrierError {
  /** The carrier's, such as `64102`. */
  code?: string;
  /** One line of bounded length. */
  words: string;
}

/** Who can mend it: whoever runs the service, whoever wrote the agent, or whoever has the carrier's account. */
type CarrierErrorKind = 'address' | 'speech' | 'account' | 'other';

/** What a carrier's name and hints add to the words for its errors. */
export interface CarrierErrorHints {
  /** Why an account may not connect calls with agents, and what to do. */
  accountRefused: string;
  /** Follows `the line ended before the agent was on it` when the carrier gives no reason. */
  unexplainedEnd: string;
}

interface ErrorSource {
  name: string;
  errorHints: CarrierErrorHints;
}

/** `Twilio error 64102: Unable to connect`, or without a code `Twilio: ...`. */
export function formatCarrierError({ name }: Pick<ErrorSource, 'name'>, { code, words }: CarrierError): string {
  if (code === undefined && words.startsWith(name)) return words;
  return `${name}${code === undefined ? '' : ` error ${code}`}${words === '' ? '' : `: ${words}`}`;
}

/** https://www.twilio.com/docs/api/errors; 11xxx: our addresses cannot be fetched. */
const kindsByCode: [RegExp, CarrierErrorKind][] = [
  [/^(?:64102|64105|31920|31921|112\d\d)$/, 'address'],
  [/^(?:64101|64106)$/, 'speech'],
];
const kindsByText: [RegExp, CarrierErrorKind][] = [
  [
    /addendum|onboard|(?:conversation ?relay|feature|account|product)\b.*\bnot\b.*\b(?:enabled|activated|allowed|authori[sz]ed|available)/i,
    'account',
  ],
  [/\b(?:voice|language|tts|transcription|speech|provider|engine)\b/i, 'speech'],
  [/\b(?:websocket|web socket|socket|connect)\b|customer_disconnect/i, 'address'],
];

function classifyCarrierError({ code, words }: CarrierError): CarrierErrorKind {
  // A switch that is off is told in words, under codes that mean other things, too.
  if (kindsByText[0]![0].test(words)) return 'account';
  return (
    kindsByCode.find(([pattern]) => pattern.test(code ?? ''))?.[1] ?? kindsByText.find(([pattern]) => pattern.test(words))?.[1] ?? 'other'
  );
}

/** Whether another session on the same call would fail likewise. */
export const isPermanentError = (fault: CarrierError | undefined): boolean =>
  fault !== undefined && (classifyCarrierError(fault) === 'account' || classifyCarrierError(fault) === 'speech');

/** Why a call did not come to talk with the agent, and what to do, with the carrier's words. `publicUrl` is where it reaches the service. */
export function explainCarrierError(carrier: ErrorSource, fault: CarrierError, publicUrl: string): string {
  const said = ` (${formatCarrierError(carrier, fault)})`;
  switch (classifyCarrierError(fault)) {
    case 'address':
      return `the carrier could not open the socket of the call; check that PUBLIC_URL (${publicUrl}) can be reached by WebSocket${said}`;
    case 'speech':
      return `the carrier does not take how the agent is to speak and hear; correct language, voice and providers in its workflow_configurations${said}`;
    case 'account':
      return `${carrier.errorHints.accountRefused}${said}`;
    case 'other':
      return `the carrier did not connect the call with the agent${said}`;
  }
}

/** A session that is lost without a word. */
export const socketLostError: CarrierError = { words: 'the socket was lost' };
