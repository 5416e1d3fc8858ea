import type { AttemptOutcome, PlacingResult } from './attempt/outcomes.ts';

// Messages between the organization's call slots and the owners of calls. All of them cross RPC as plain data.

/**
 * Who requests a call: a person by a single run, a run of a journey, or a campaign. `id` is that of the run or campaign; 0 for single
 * calls.
 */
export interface Owner {
  kind: 'single' | 'journey' | 'campaign';
  id: number;
}

/** The owner of a name that `ownerName` made. */
export function parseOwner(name: string): Owner {
  const [kind, id] = name.split(':');
  return { kind: kind as Owner['kind'], id: Number(id) };
}

/** The name of an owner, with which its attempts' keys begin: `campaign:12`. */
export const ownerName = ({ kind, id }: Owner): string => `${kind}:${id}`;

/** Names one attempt for good. `item` is unique within the owner: a row and its try, a node and its visit. */
export const attemptKey = (owner: Owner, item: string): string => `${ownerName(owner)}:${item}`;

export interface RequestedCall {
  key: string;
  /** E.164. */
  phone: string;
  agentId: number;
  contactId: number | null;
  /** JSON text of the run's `initial_context`. */
  initialContext: string;
  /** Shown as the run's name. */
  name: string;
  /** Epoch ms at which dialling is no longer allowed; null: at any time. */
  notAfter: number | null;
}

export interface CallsRequest {
  owner: Owner;
  /** Raised by the owner at each withdrawal. Requests of an earlier epoch are void. */
  epoch: number;
  /** How many of the owner's calls may be live at once; null: only the organization's limit counts. */
  maxConcurrency: number | null;
  calls: RequestedCall[];
}

/**
 * Why a call was given back undialled. `too_soon` and `window_closed` pass by themselves. `contact_policy` passes when it has an `until`, else it
 * is final. `suppressed`, `contact_deleted` and `number_unassignable` are final for the row or node. `agent_archived`, `agent_unsound` and `telephony_not_configured` wait for a person to repair the cause.
 */
export const returnReasons = [
  'window_closed',
  'too_soon',
  'contact_policy',
  'suppressed',
  'contact_deleted',
  'number_unassignable',
  'agent_archived',
  'agent_unsound',
  'telephony_not_configured',
  'withdrawn',
] as const;
export type ReturnReason = (typeof returnReasons)[number];

/** A report of an attempt to its owner, repeated until the owner has stored it. `at` in epoch ms. */
export type AttemptReport =
  /** The person has another call at the moment; the attempt stays queued. */
  | { kind: 'waiting'; key: string; at: number; reason: string }
  /** The carrier is being asked; from now on the attempt counts as dialled. */
  | { kind: 'dialing'; key: string; at: number; runId: number }
  | { kind: 'answered'; key: string; at: number; runId: number }
  /** The line has ended, or the call was never placed. `detail` is a sentence. */
  | {
      kind: 'ended';
      key: string;
      at: number;
      runId: number;
      outcome: AttemptOutcome;
      detail: string | null;
      retryAfterSeconds: number | null;
    }
  /**
   * Not dialled, and no longer queued. `until`: when a new request makes sense, epoch ms. `isSpent`: the row of the run exists and is
   * completed by this, so a new request needs a new key.
   */
  | { kind: 'returned'; key: string; at: number; reason: ReturnReason; detail: string; until: number | null; isSpent: boolean };

/** The answer to `request`. A known attempt that has ended is reported again; other known attempts stay as they are. */
export interface RequestResult {
  queued: number;
  known: number;
  /** The request's epoch is outdated. Nothing was queued. */
  isStale: boolean;
}

/** The end of a call's line, as the object of the call is notified of it. */
export interface CallEnd {
  outcome: 'completed' | 'busy' | 'no_answer' | 'voicemail' | 'failed' | 'cancelled';
  /** The sentence that explains the outcome; null: the outcome says enough. */
  reason: string | null;
  answeredAt: number | null;
  endedAt: number;
  durationSeconds: number;
  statusCallbacks: StatusCallback[];
}

export interface StatusCallback {
  status: string;
  /** ISO 8601 UTC. */
  at: string;
  /** What else the carrier reported: its call id, a SIP code, who answered. */
  details: Record<string, string | number>;
}

/** An attempt that its receiver must have placed now. No other receiver gets it. */
export interface BegunCall {
  key: string;
  owner: Owner;
  phone: string;
  ownNumber: string;
  configId: number;
  agentId: number;
  contactId: number | null;
  name: string;
  initialContext: string;
  machineDetection: boolean;
  /** Epoch ms. */
  notAfter: number | null;
  /** Repeated in the `PlacingReport`. */
  submission: number;
}

/** What became of an attempt that was begun. `refused`: why it was not placed; `until`: when a new request makes sense, epoch ms. */
export type PlacingReport = { key: string; submission: number; runId: number | null } &
  /** `detectsMachines`: whether the carrier was asked for machine detection. */
  ({ result: PlacingResult; detectsMachines?: boolean } | { refused: ReturnReason; detail: string; until?: number | null });

/**
 * How the carrier takes instructions on an event: as a document that it waits for, as a command after it has reported an answer, or not at
 * all.
 */
export type ResponseChannel = 'document' | 'command' | 'nobody';

/** What to do with the line after an event. */
export type LineInstruction =
  /** The attempt is unknown. */
  | 'ignored'
  | 'none'
  /** Connect the agent. */
  | 'talk'
  /** End the line: a machine has answered, or the call is a second one for the attempt. */
  | 'hang_up'
  /** Stop the agent, which talks to a machine. */
  | 'end_talk';

export interface InboundCall {
  key: string;
  runId: number;
  agentId: number;
  configId: number;
  phone: string;
  ownNumber: string;
  callId: string;
  contactId: number | null;
}
