import type { CarrierError } from './carrier-error.ts';
import { isTerminal, rankOf, type CallStatus } from './call-status.ts';

export type AnsweredBy = 'person' | 'machine';

/** What the line does. Optional members are absent when the carrier does not tell them. */
export interface StatusEvent {
  kind: 'status';
  callId: string;
  status: CallStatus;
  /** Only a higher rank than the known one moves a call on. */
  rank: number;
  isTerminal: boolean;
  direction?: 'inbound' | 'outbound';
  from?: string;
  to?: string;
  /** SIP response code of a call that was not answered, such as 486. */
  sipCode?: number;
  durationSeconds?: number;
  answeredBy?: AnsweredBy;
  /** Why the call failed. */
  fault?: CarrierError;
  /** The carrier's own count of what it reports of this call. */
  sequence?: number;
  /** Where the carrier carries it along; elsewhere it is in the callback address. */
  attemptKey?: string;
  /** Epoch ms, by the carrier's clock where it tells. */
  at: number;
}

/** The verdict of machine detection, apart from the status. May come after the call has ended. */
export interface MachineEvent {
  kind: 'machine';
  callId: string;
  answeredBy: AnsweredBy;
  attemptKey?: string;
  at: number;
}

export interface RecordingEvent {
  kind: 'recording';
  /** Telnyx does not tell it. */
  callId?: string;
  status: 'in_progress' | 'completed' | 'absent' | 'failed';
  recordingId?: string;
  /** Where it is found, for `Telephony.fetchRecording`; with `completed` alone. */
  location?: string;
  durationSeconds?: number;
  attemptKey?: string;
  at: number;
}

/** The carrier's conversation relay is over, and the carrier asks, or waits to be told, what to do with the line. */
export interface RelayEndEvent {
  kind: 'relay_ended';
  callId: string;
  /** `ended` by our frame, `hung_up` by the person, `lost` when the socket broke or could not be opened. */
  reason: 'ended' | 'hung_up' | 'lost';
  sessionId?: string;
  /** What our `end` frame carried. */
  handoffData?: string;
  /** Why a session was lost. */
  fault?: CarrierError;
  attemptKey?: string;
  at: number;
}

/** What a carrier tells of a line. */
export type CallEvent = StatusEvent | MachineEvent | RelayEndEvent;
export type CarrierEvent = CallEvent | RecordingEvent;

export const statusEvent = (event: Omit<StatusEvent, 'kind' | 'rank' | 'isTerminal'>): StatusEvent => ({
  kind: 'status',
  ...event,
  rank: rankOf(event.status),
  isTerminal: isTerminal(event.status),
});

const machinePattern = /^(?:machine|machine_.+|fax|fax_detected|beep_detected)$/;

/**
 * Who answered, from a carrier's word for it (Twilio's AnsweredBy, Telnyx's result). Doubt counts as a person: hanging up on one is worse
 * than talking to a machine. Undefined when nothing was detected.
 */
export function toAnsweredBy(word: string | null | undefined): AnsweredBy | undefined {
  if (word === null || word === undefined || word === '') return undefined;
  return machinePattern.test(word) ? 'machine' : 'person';
}
