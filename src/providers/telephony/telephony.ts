import type { Runtime } from '../http/runtime.ts';
import type { CallStatus } from './call-status.ts';
import type { Settings } from '../../settings.ts';
import type { CarrierError, CarrierErrorHints } from './carrier-error.ts';
import type { CarrierEvent, StatusEvent } from './carrier-events.ts';

export interface CallToPlace {
  /** Names this attempt for good; used as the idempotency key at a carrier that has one. */
  attemptKey: string;
  /** `to` and `from` in E.164. */
  to: string;
  from: string;
  urls: {
    /** Receives changes of the line's status. At Telnyx it receives all other reports, too. */
    status: string;
    /** Answers with the document of an answered call. Not used by a carrier with `commands`. */
    answer: string;
    /** Receives the verdict of machine detection. */
    machine?: string;
    /** Present if the call is recorded: receives the recording's location. */
    recording?: string;
  };
  /**
   * Whether the carrier detects machines. The verdict comes during the call, since waiting for it would leave the person in silence for up
   * to 30 s. Default true.
   */
  detectsMachines?: boolean;
  /** Whether the end of a machine's greeting is reported, too, since a message is left. */
  awaitsBeep?: boolean;
  ringSeconds?: number;
  maxSeconds?: number;
}

/** What a carrier refuses: the called number, calls to it, the caller's number, the carrier account, or our request. */
export type RefusalKind = 'number' | 'blocked' | 'caller_id' | 'account' | 'request';

/** The carrier has not placed the call, and would refuse the same call later. The message tells a user what to do. */
export interface Refusal {
  /** The carrier's code. */
  code: string;
  message: string;
  kind: RefusalKind;
  retryable: false;
}

export type PlaceResult =
  | { placed: { callId: string; status: CallStatus } }
  | { refused: Refusal }
  /** Not placed: the carrier takes no calls at the moment. */
  | { busy: { retryAfterSeconds?: number } }
  /** The call may have been placed: ask `list` later, and do not place it again. */
  | { unknown: string };

/** The carrier could not be asked: ask again later. */
interface TelephonyFailure {
  failure: string;
}

/** A call as the carrier knows it. */
export type CallState = Omit<StatusEvent, 'kind' | 'at'> & {
  /** Epoch ms, to the second. */
  createdAt?: number;
};

/** `ended`: the call has ended, and the carrier does not report how. */
export type LookUpResult = { call: CallState } | { ended: true } | { missing: true } | TelephonyFailure;
/** `isComplete`: a call that is not listed was not placed. Otherwise the call may have been placed and ended. */
export type ListResult = { calls: CallState[]; isComplete: boolean } | TelephonyFailure;
/** `gone`: the carrier has no live call with this id, so nothing is left to do. */
export type CommandResult = { done: true } | { gone: true } | TelephonyFailure;
export type RecordingResult =
  | { recording: { stream: ReadableStream<Uint8Array>; contentType: string; bytes?: number } }
  | { missing: true }
  /** The recording cannot be fetched, now or later: its address may not be called, or it is too long. */
  | { refused: string }
  | TelephonyFailure;

export interface CallQuery {
  to: string;
  from: string;
  /** Epoch ms, by our clock. All calls placed since then are listed, and perhaps some from the minute before. */
  since: number;
  attemptKey: string;
}

type Interruptible = 'any' | 'speech' | 'dtmf' | 'none';

/** How an answered call is connected to our WebSocket: the carrier listens and speaks, and frames carry the text. */
export interface RelayOptions {
  /** A wss:// address. Its data belongs into `parameters`: carriers may drop a query. */
  url: string;
  /** Spoken by the carrier at once, before our first frame. */
  greeting?: string;
  isGreetingInterruptible?: Interruptible;
  isInterruptible?: Interruptible;
  /** BCP 47, for recognition and speech. */
  language?: string;
  voice?: string;
  ttsProvider?: string;
  transcriptionProvider?: string;
  /** The model of the transcription. */
  speechModel?: string;
  /** Words to recognize. Not sent to Telnyx. */
  hints?: readonly string[];
  hasDtmf?: boolean;
  /** Repeated by the carrier in the `customParameters` of the setup frame. */
  parameters?: Record<string, string>;
}

/** A human to whom an answered call is handed. */
export interface HumanToDial {
  attemptKey: string;
  /** The number of the transfer, from 1. */
  leg: number;
  /** E.164, or a SIP address. */
  to: string;
  /** The number that the human sees, E.164; null: the carrier's default. */
  from: string | null;
  /** Whether the human hears an announcement before the two are connected. */
  isAnnounced: boolean;
  /** Whether the carrier detects machines. The two are connected meanwhile, so that a human hears no silence. */
  detectsMachines: boolean;
  ringSeconds: number;
  /** The longest talk. */
  maxSeconds: number;
  /** Receives reports on the human's line. */
  statusUrl: string;
}

/** `refused`: the carrier certainly dials nobody. */
export type DialHumanResult = CommandResult | { refused: string };

/** For a carrier that fetches no document and takes commands for an answered call. */
interface CallCommands {
  /** Answers an inbound call. `statusUrl` receives its further reports; `key` makes a repeat harmless. */
  answer(callId: string, statusUrl: string, key: string): Promise<CommandResult>;
  connect(callId: string, relay: RelayOptions, key: string): Promise<CommandResult>;
  /** Dials a human. Without an announcement the carrier connects the two; else `announce` and `bridge` follow. A repeat within a minute is harmless. */
  dialHuman(callId: string, human: HumanToDial): Promise<DialHumanResult>;
  /** Says a text to the human. `language`: BCP 47. */
  announce(humanCallId: string, text: string, language: string | null, key: string): Promise<CommandResult>;
  /** Connects the caller with the human. The line of the caller outlives that of the human. */
  bridge(callId: string, humanCallId: string, key: string): Promise<CommandResult>;
}

/** For a carrier that requests a document when a call is answered. */
interface CallDocuments {
  contentType: string;
  /** Connects the call to the relay. After the session the carrier asks `actionUrl` for the next instruction. */
  connect(relay: RelayOptions, actionUrl: string): string;
  hangUp(): string;
  /**
   * Dials a human and connects the two. Before that the carrier asks `announcementUrl` for what the human hears. Afterwards it asks `actionUrl` for
   * the next instruction.
   */
  dialHuman(human: HumanToDial, urls: { actionUrl: string; announcementUrl: string }): string;
  /** Says a text; null: nothing. `language`: BCP 47. */
  announce(text: string | null, language: string | null): string;
}

/** A carrier's request as it was received. */
interface CarrierRequest {
  /** The address under which the carrier knows the service, with unchanged path and query. */
  url: string;
  headers: Headers;
  body: string;
}

/** A carrier account. No method throws, and no message holds a secret. Either `commands` or `documents` is present. */
export interface Telephony {
  readonly commands?: CallCommands;
  readonly documents?: CallDocuments;
  /** Whether the signature covers the address. Otherwise the body of a request must name the attempt. */
  readonly signsUrl: boolean;
  /** Whether a request is signed for this account. `now` in epoch ms. */
  isSigned(request: CarrierRequest, now: number): boolean | Promise<boolean>;
  /** Reads the event of a signed request; undefined if it has none. `now` (epoch ms) is used for a request without a time. */
  readCallback(body: string, now: number): CarrierEvent | undefined;
  place(call: CallToPlace): Promise<PlaceResult>;
  lookUp(callId: string): Promise<LookUpResult>;
  /** Lists the calls that may belong to an attempt whose `place` had an unknown result. */
  list(query: CallQuery): Promise<ListResult>;
  hangUp(callId: string): Promise<CommandResult>;
  /** Lists the errors of a call, oldest first, as far as the carrier reports them. Empty also when the carrier cannot be asked. */
  listCallErrors(callId: string): Promise<CarrierError[]>;
  /** Fetches a recording; `location` comes from a recording event. */
  fetchRecording(location: string): Promise<RecordingResult>;
}

/** The platform functions that calls use; tests replace them. */
export type CarrierRuntime = Pick<Runtime, 'fetch' | 'now'>;

export interface TelephonyOptions {
  /** The carrier's API: https://api.twilio.com, https://api.telnyx.com/v2. */
  baseUrl: string;
  /** The timeout of one request; default 10 s. */
  timeoutMs?: number;
  runtime?: CarrierRuntime;
}

/** One credential of a carrier account. */
export interface CredentialField {
  /** Whether the value is stored encrypted and shown as a mask. */
  isSecret: boolean;
  /** A sentence for the API's reference. */
  description: string;
  /** Explains what is wrong with a value; null: the value is valid. */
  findProblem: (value: string) => string | null;
}

/**
 * A carrier: one folder beside this file and one line in `registry.ts`. The adapter holds all that is specific to a carrier: its
 * credentials in a configuration, signatures, callbacks, regions, speech options, and words for failures.
 */
export interface CarrierAdapter<Field extends string = string> {
  /** The carrier's name in its own spelling. */
  name: string;
  /** The credentials by their names in the API. All are required. */
  credentials: Record<Field, CredentialField>;
  /** The address of the carrier's API for an account, which may depend on a region in its credentials. */
  baseUrl(settings: Settings, credentials: Record<Field, string>): string;
  /** Creates an account from its opened credentials. */
  create(credentials: Record<Field, string>, options: TelephonyOptions): Telephony;
  speech: CarrierSpeech;
  /**
   * Whether the relay supports neither `interruptible` of a text nor an empty token. The last piece of an utterance is then held back until
   * the next piece or the end of the utterance.
   */
  holdsLastToken: boolean;
  errorHints: CarrierErrorHints;
}

/** The speech options of an agent that the carrier supports. Unlisted names are stored, with a warning. */
interface CarrierSpeech {
  ttsProviders?: readonly string[];
  transcriptionProviders?: readonly string[];
  /** Whether the carrier supports words to recognize. */
  hasHints: boolean;
}
