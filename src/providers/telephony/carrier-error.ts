/** An error of a call, in the carrier's own words. */
export interface CarrierError {
  /** The carrier's code, such as `64102`. */
  code?: string;
  /** One line of bounded length. */
  words: string;
}

/**
 * What must be corrected: the service's address (by its operator), the agent's speech settings (by its author), or the carrier account (by
 * its owner).
 */
type CarrierErrorKind = 'address' | 'speech' | 'account' | 'other';

/** What a carrier's adapter adds to the words for its errors. */
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

/** The error with the carrier's name: `Twilio error 64102: Unable to connect`, or without a code `Twilio: ...`. */
export function formatCarrierError({ name }: Pick<ErrorSource, 'name'>, { code, words }: CarrierError): string {
  if (code === undefined && words.startsWith(name)) return words;
  return `${name}${code === undefined ? '' : ` error ${code}`}${words === '' ? '' : `: ${words}`}`;
}

/** https://www.twilio.com/docs/api/errors; 11xxx: the carrier cannot fetch the service's addresses. */
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
  // A feature that is switched off is named in the words only. Its codes have other meanings too.
  if (kindsByText[0]![0].test(words)) return 'account';
  return (
    kindsByCode.find(([pattern]) => pattern.test(code ?? ''))?.[1] ?? kindsByText.find(([pattern]) => pattern.test(words))?.[1] ?? 'other'
  );
}

/** Whether another session of the same call would fail in the same way. */
export const isPermanentError = (fault: CarrierError | undefined): boolean =>
  fault !== undefined && (classifyCarrierError(fault) === 'account' || classifyCarrierError(fault) === 'speech');

/**
 * Why a call was not connected with the agent, and what to do, with the carrier's words. `publicUrl` is the address under which the carrier
 * reaches the service.
 */
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

/** The error of a session that was lost without a reason from the carrier. */
export const socketLostError: CarrierError = { words: 'the socket was lost' };
