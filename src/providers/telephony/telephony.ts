import type { Runtime } from '../http/runtime.ts';
import type { CallStatus } from './call-status.ts';
import type { Settings } from '../../settings.ts';
import type { CarrierError, CarrierErrorHints } from './carrier-error.ts';
import type { CarrierEvent, StatusEvent } from './carrier-events.ts';

export interface CallToPlace {
  /** Names this attempt for good; the idempotency key where the carrier has one. */
  attemptKey: string;
  /** E.164, both. */
  to: string;
  from: string;
  urls: {
    /** Told what the line does. At Telnyx it is told everything else, too. */
    status: string;
    /** Asked for the document of an answered call. Not used where `commands` exist. */
    answer: string;
    /** Told the verdict of machine detection. */
    machine?: string;
    /** Given when the call is to be recorded: told when the recording is there. */
    recording?: string;
  };
  /**
   * Its verdict comes while the call goes on: a carrier that waits for it leaves whoever has answered in silence for up to 30 s. Default true.
   */
  detectsMachines?: boolean;
  ringSeconds?: number;
  maxSeconds?: number;
}

/** What a refusal is about: the called number, calls to it, the number called from, the carrier account, or our request. */
export type RefusalKind = 'number' | 'blocked' | 'caller_id' | 'account' | 'request';

/** The carrier has not placed the call and will not place the same one later. The message is for a user to act on. */
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
  /** Not placed; the carrier takes no calls for the moment. */
  | { busy: { retryAfterSeconds?: number } }
  /** It may have been placed: ask `list` later, never place it again at once. */
  | { unknown: string };

/** A failure of the question, not an answer to it: ask again later. */
interface TelephonyFailure {
  failure: string;
}

/** A call as the carrier knows it. */
export type CallState = Omit<StatusEvent, 'kind' | 'at'> & {
  /** Epoch ms, to the second. */
  createdAt?: number;
};

/** `ended`: the call has ended, and the carrier does not tell how. */
export type LookUpResult = { call: CallState } | { ended: true } | { missing: true } | TelephonyFailure;
/** `isComplete`: a call that is not among them was not placed. Otherwise the carrier may have had it, and have ended it. */
export type ListResult = { calls: CallState[]; isComplete: boolean } | TelephonyFailure;
/** `gone`: the carrier has no live call of this id, so there is nothing left to do to it. */
export type CommandResult = { done: true } | { gone: true } | TelephonyFailure;
export type RecordingResult =
  | { recording: { stream: ReadableStream<Uint8Array>; contentType: string; bytes?: number } }
  | { missing: true }
  /** Neither now nor later: its address may not be called, or it is too long. */
  | { refused: string }
  | TelephonyFailure;

export interface CallQuery {
  to: string;
  from: string;
  /** Epoch ms, by our clock: no call made since then is left out, some that were made up to a minute before may be there. */
  since: number;
  attemptKey: string;
}

type Interruptible = 'any' | 'speech' | 'dtmf' | 'none';

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

/** For carriers that fetch no document, but are told what to do with a call once it is answered. */
interface CallCommands {
  /** Takes an inbound call. `statusUrl` is told of it from now on; `key` makes a repeat harmless. */
  answer(callId: string, statusUrl: string, key: string): Promise<CommandResult>;
  connect(callId: string, relay: RelayOptions, key: string): Promise<CommandResult>;
}

/** For carriers that ask for a document when a call is answered. */
interface CallDocuments {
  contentType: string;
  /** Joins the call to the relay. When the session is over, the carrier asks `actionUrl` what to do next. */
  connect(relay: RelayOptions, actionUrl: string): string;
  hangUp(): string;
}

/** A request of a carrier, as it came. */
interface CarrierRequest {
  /** The address under which the carrier knows the service, with path and query letter for letter. */
  url: string;
  headers: Headers;
  body: string;
}

/** A carrier account. Nothing here throws, and no message holds a secret. Either `commands` or `documents` is there. */
export interface Telephony {
  readonly commands?: CallCommands;
  readonly documents?: CallDocuments;
  /** Whether the signature covers the address. Where it does not, what a request tells must name the attempt itself. */
  readonly signsUrl: boolean;
  /** Whether a request is the carrier's, of this account. `now` in epoch ms. */
  isSigned(request: CarrierRequest, now: number): boolean | Promise<boolean>;
  /** What a signed request tells; undefined for anything else. `now` (epoch ms) stands in where the request tells no time. */
  readCallback(body: string, now: number): CarrierEvent | undefined;
  place(call: CallToPlace): Promise<PlaceResult>;
  lookUp(callId: string): Promise<LookUpResult>;
  /** Calls that may be the one that `place` does not know of. */
  list(query: CallQuery): Promise<ListResult>;
  hangUp(callId: string): Promise<CommandResult>;
  /** What went wrong with a call, oldest first, as far as the carrier tells; empty also when it cannot be asked. */
  listCallErrors(callId: string): Promise<CarrierError[]>;
  /** `location` is that of a recording event. */
  fetchRecording(location: string): Promise<RecordingResult>;
}

/** What calls need of the world. */
export type CarrierRuntime = Pick<Runtime, 'fetch' | 'now'>;

export interface TelephonyOptions {
  /** The carrier's API: https://api.twilio.com, https://api.telnyx.com/v2. */
  baseUrl: string;
  /** For one request; default 10 s. */
  timeoutMs?: number;
  runtime?: CarrierRuntime;
}

/** One credential of a carrier account. */
export interface CredentialField {
  /** Whether the value is stored encrypted and shown masked. */
  isSecret: boolean;
  /** A sentence for the API's reference. */
  description: string;
  /** What is wrong with a value; null: nothing. */
  findProblem: (value: string) => string | null;
}

/**
 * A carrier: one folder beside this file and one line in `registry.ts`. Everything that the service knows of a carrier stands here: the block
 * of credentials in a configuration, signatures, callbacks, regions, what agents may be told of speech, and words for failures.
 */
export interface CarrierAdapter<Field extends string = string> {
  /** As the carrier writes its name. */
  name: string;
  /** By their names in the API. All are needed. */
  credentials: Record<Field, CredentialField>;
  /** The address of the carrier's API for an account, which may depend on a region in its credentials. */
  baseUrl(settings: Settings, credentials: Record<Field, string>): string;
  /** An account, its secrets opened. */
  create(credentials: Record<Field, string>, options: TelephonyOptions): Telephony;
  speech: CarrierSpeech;
  /**
   * Whether the relay documents neither `interruptible` of a text nor an empty token. The last piece of an utterance is then held back until
   * the next one, or the utterance's end, is there.
   */
  holdsLastToken: boolean;
  errorHints: CarrierErrorHints;
}

/** What the carrier takes of an agent's speech configuration. Names that are not listed are kept, with a warning. */
interface CarrierSpeech {
  ttsProviders?: readonly string[];
  transcriptionProviders?: readonly string[];
  /** Whether the carrier takes words that are to be recognized. */
  hasHints: boolean;
}
