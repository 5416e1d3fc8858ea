import type { CarrierError } from './carrier-error.ts';
import { isTerminal, rankOf, type CallStatus } from './call-status.ts';

export type AnsweredBy = 'person' | 'machine';

/** A change of the line's status. Optional members are absent when the carrier does not report them. */
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
  /** The carrier's own number of the report on this call. */
  sequence?: number;
  /** Present for a carrier that repeats it in callbacks; for others the callback address names the attempt. */
  attemptKey?: string;
  /** Epoch ms, by the carrier's clock if the report has a time. */
  at: number;
}

/** The verdict of machine detection, reported apart from the status. It may come after the end of the call. */
export interface MachineEvent {
  kind: 'machine';
  callId: string;
  answeredBy: AnsweredBy;
  /** The greeting of the machine is over, so that a message may be left. */
  isGreetingOver?: boolean;
  attemptKey?: string;
  at: number;
}

export interface RecordingEvent {
  kind: 'recording';
  /** Absent at Telnyx. */
  callId?: string;
  status: 'in_progress' | 'completed' | 'absent' | 'failed';
  recordingId?: string;
  /** The location of a completed recording, for `Telephony.fetchRecording`. */
  location?: string;
  durationSeconds?: number;
  attemptKey?: string;
  at: number;
}

/** The carrier's conversation relay is over. The carrier requests, or waits for, the next instruction for the line. */
export interface RelayEndEvent {
  kind: 'relay_ended';
  callId: string;
  /** `ended`: by our frame; `hung_up`: by the person; `lost`: the socket broke or could not be opened. */
  reason: 'ended' | 'hung_up' | 'lost';
  sessionId?: string;
  /** The `handoffData` of our `end` frame. */
  handoffData?: string;
  /** Why a session was lost. */
  fault?: CarrierError;
  attemptKey?: string;
  at: number;
}

/** A report on the line of a human to whom a call is handed. */
export interface HumanEvent {
  kind: 'human';
  /** The id of the human's line. */
  callId: string;
  /** The number of the transfer; absent: the address of the callback has it. */
  leg?: number;
  /** `machine`: a machine has picked up. `announced`: the summary was said. `bridged`: the caller and the human were connected. */
  report: 'answered' | 'machine' | 'announced' | 'bridged' | 'ended';
  /** How the line ended. */
  result?: 'completed' | 'busy' | 'no_answer' | 'failed' | 'cancelled';
  durationSeconds?: number;
  /** Whether the two were connected, where the report of the end says so. */
  isBridged?: boolean;
  fault?: CarrierError;
  attemptKey?: string;
  at: number;
}

/** A carrier's report on a line. */
export type CallEvent = StatusEvent | MachineEvent | RelayEndEvent;
export type CarrierEvent = CallEvent | RecordingEvent | HumanEvent;

export const statusEvent = (event: Omit<StatusEvent, 'kind' | 'rank' | 'isTerminal'>): StatusEvent => ({
  kind: 'status',
  ...event,
  rank: rankOf(event.status),
  isTerminal: isTerminal(event.status),
});

const machinePattern = /^(?:machine|machine_.+|fax|fax_detected|beep_detected)$/;

/**
 * Who answered, from a carrier's word (Twilio's AnsweredBy, Telnyx's result). An uncertain verdict counts as a person: hanging up on a
 * person is worse than talking to a machine. Undefined when nothing was detected.
 */
export function toAnsweredBy(word: string | null | undefined): AnsweredBy | undefined {
  if (word === null || word === undefined || word === '') return undefined;
  return machinePattern.test(word) ? 'machine' : 'person';
}
