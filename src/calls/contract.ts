import type { AttemptOutcome, PlacingResult } from './attempt/outcomes.ts';

// What the organization's call slots and those who want people called say to each other. All of it crosses RPC as plain data.

/** Who wants a call: one run that a person asked for, a run of a journey, or a campaign. `id` is theirs. */
export interface Owner {
  kind: 'single' | 'journey' | 'campaign';
  id: number;
}

/** Who `ownerName` named. */
export function parseOwner(name: string): Owner {
  const [kind, id] = name.split(':');
  return { kind: kind as Owner['kind'], id: Number(id) };
}

/** The name under which slots know an owner, and the beginning of its attempts' keys: `campaign:12`. */
export const ownerName = ({ kind, id }: Owner): string => `${kind}:${id}`;

/** Names one attempt for good. `item` is the owner's own: a row and its try, a node and its visit. */
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
  /** Raised by the owner at each withdrawal: what was asked for before one counts no more. */
  epoch: number;
  /** How many of the owner's calls may be live at once; null: only the organization's limit counts. */
  maxConcurrency: number | null;
  calls: RequestedCall[];
}

/**
 * Why a call was given back undialled. `too_soon` and `window_closed` pass by themselves; `suppressed` and `contact_deleted` end what asked
 * for it; `agent_archived`, `agent_unsound` and `telephony_not_configured` are for a person to mend.
 */
export const returnReasons = [
  'window_closed',
  'too_soon',
  'suppressed',
  'contact_deleted',
  'agent_archived',
  'agent_unsound',
  'telephony_not_configured',
  'withdrawn',
] as const;
export type ReturnReason = (typeof returnReasons)[number];

/** What slots tell an owner of its attempts, repeated until the owner has taken it in. `at` in epoch ms. */
export type AttemptReport =
  /** The person has another call at the moment: it stays queued. */
  | { kind: 'waiting'; key: string; at: number; reason: string }
  /** The carrier is being asked; from now on it counts as dialled. */
  | { kind: 'dialing'; key: string; at: number; runId: number }
  | { kind: 'answered'; key: string; at: number; runId: number }
  /** The line has ended, or never came to be. `detail` is a sentence. */
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
   * Not dialled, and no longer queued. `until`: when asking again makes sense, epoch ms. `isSpent`: its run has been written and is completed by
   * this, so that asking again takes a new key.
   */
  | { kind: 'returned'; key: string; at: number; reason: ReturnReason; detail: string; until: number | null; isSpent: boolean };

/** What `request` says of attempts that were known before: an ended one is reported again, the others are simply there. */
export interface RequestResult {
  queued: number;
  known: number;
  /** The request's epoch was over. Nothing was queued. */
  isStale: boolean;
}

/** The line of a call as its own object hears of it when it has ended. */
export interface CallEnd {
  outcome: 'completed' | 'busy' | 'no_answer' | 'voicemail' | 'failed' | 'cancelled';
  /** The sentence behind it; null: the outcome says it. */
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
  /** What else the carrier told: its call id, a SIP code, who answered. */
  details: Record<string, string | number>;
}

/** An attempt that its caller has to have placed now, once: nobody else was given it. */
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
  /** To be told with what came of it. */
  submission: number;
}

/** What came of an attempt that was begun. `refused`: it was not placed, and why. */
export type PlacingReport = { key: string; submission: number; runId: number | null } &
  /** `detectsMachines`: whether the carrier was asked for machine detection. */
  ({ result: PlacingResult; detectsMachines?: boolean } | { refused: ReturnReason; detail: string });

/**
 * Who wants to know what is to be done with the line: a carrier that waits for a document, one that has just told that the call was answered
 * and takes commands, or nobody.
 */
export type ResponseChannel = 'document' | 'command' | 'nobody';

/** What the carrier is to be told about an event. */
export type LineInstruction =
  /** Nobody knows this attempt. */
  | 'ignored'
  | 'none'
  /** The agent is to be put on the line. */
  | 'talk'
  /** The line is to be ended: a machine has answered, or the call is one too many. */
  | 'hang_up'
  /** A machine has answered, and the agent talks to it. */
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
