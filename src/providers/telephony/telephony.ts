import type { Runtime } from '../http/runtime.ts';
import type { RelayOptions } from './twiml.ts';
import type { CallStatus } from './call-status.ts';
import type { CarrierError } from './carrier-error.ts';
import type { StatusEvent } from './carrier-events.ts';

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
  maximumSeconds?: number;
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
export interface TelephonyFailure {
  failure: string;
}

/** A call as the carrier knows it. */
export type CallState = Omit<StatusEvent, 'kind' | 'at'> & {
  /** Epoch ms, to the second. */
  createdAt?: number;
};

/** `over`: it has ended, and the carrier does not tell how. */
export type LookUpResult = { call: CallState } | { over: true } | { missing: true } | TelephonyFailure;
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

/** For carriers that fetch no document, but are told what to do with a call once it is answered. */
export interface CallCommands {
  /** Takes an inbound call. `statusUrl` is told of it from now on; `key` makes a repeat harmless. */
  answer(callId: string, statusUrl: string, key: string): Promise<CommandResult>;
  connect(callId: string, relay: RelayOptions, key: string): Promise<CommandResult>;
}

/** A carrier account. Nothing here throws, and no message holds a secret. */
export interface Telephony {
  readonly provider: 'twilio' | 'telnyx';
  /** Absent: an answered call is joined by the document that its answer address gives. */
  readonly commands?: CallCommands;
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
