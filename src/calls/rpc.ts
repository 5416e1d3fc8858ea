import { callDurableObject } from '../library/platform/call-durable-object.ts';
import type { CallEvent, RecordingEvent, RelayEndEvent } from '../providers/telephony/carrier-events.ts';
import type {
  BegunCall,
  CallEnd,
  CallsRequest,
  InboundCall,
  LineInstruction,
  Owner,
  PlacingReport,
  RequestResult,
  ResponseChannel,
} from './contract.ts';
import type { HumanToDial } from '../providers/telephony/telephony.ts';
import type { LegFact, TransferRecord } from '../voice-agents/conversation/transfer-leg.ts';
import type { SpeechOptions } from './live-call/speech-options.ts';
import type { ChatAnswer, ChatMessage, ChatRefusal } from './text-chat/contract.ts';

/** The calls of one owner, as a campaign's progress shows them. */
export interface OwnerStatus {
  queued: number;
  live: number;
  /** Live calls of the whole organization. */
  organizationLive: number;
  /** How many live calls the plan allows. */
  limit: number;
  /** Why none of the queued calls is dialled, in a sentence; null: nothing holds them back. */
  waitingFor: string | null;
}

/** A call of which nothing has been heard for long, or whose work after its end is not done. Moments in epoch ms. */
export interface StalledCall {
  key: string;
  /** Grows with each call that is requested. */
  seq: number;
  /** Its run; null: it has none yet. */
  runId: number | null;
  since: number;
  why: string;
  /** When it is looked at again by itself; null: no moment is set. */
  nextCheckAt: number | null;
}

/** What stands still among the calls of an organization. */
export interface CallStandstill {
  /** Calls that wait for a slot, counted up to 1,000. */
  queued: number;
  /** Why none of the first of them is dialled, in a sentence; null: nothing holds them back. */
  waitingFor: string | null;
  /** The oldest first. */
  stalled: StalledCall[];
}

/**
 * The call slots of one organization, in an object named by the organization's id. They hold every attempt to call a person and every
 * inbound call. Each method may be repeated.
 */
export interface CallSlotsRpc {
  /** Queues the calls of a request that are not known yet. A known call stays as it is. */
  request(organizationId: number, request: CallsRequest): Promise<RequestResult>;
  /** Withdraws all calls of an owner that have not been submitted. Requests of a lower epoch are void from now on. */
  withdraw(organizationId: number, owner: Owner, epoch: number): Promise<void>;
  /** Withdraws single calls that have not been submitted. Submitted calls go on. */
  withdrawCalls(organizationId: number, keys: string[]): Promise<void>;
  /** Before the organization is deleted: drops all calls that have not been submitted. Answers the live calls, and how many are being placed. */
  shutDown(): Promise<{ calls: { configId: number; callId: string }[]; unplaced: number }>;
  /**
   * Hands granted attempts to the caller, which has the carrier place them now. Each attempt is handed out once, ever. Attempts beyond the
   * carrier's rate, or beyond the size of an RPC answer, are sent to the queue again.
   */
  beginCalls(keys: string[]): Promise<BegunCall[]>;
  /** Which of the begun attempts are still wanted. */
  filterWanted(keys: string[]): Promise<string[]>;
  /** Records what became of begun attempts. The carrier's own reports may come before. */
  recordPlacings(placings: PlacingReport[]): Promise<void>;
  /** Records that the agent could not be connected, so the call has no conversation. `reason` is a sentence. */
  recordAgentNotConnected(key: string, reason: string): Promise<void>;
  /**
   * Records a carrier's report on an attempt, and answers what to do with the line. `runId` comes from the callback's address, since the
   * answer to the request that placed the call may still be on its way.
   */
  recordEvent(key: string, runId: number, event: CallEvent, channel: ResponseChannel): Promise<LineInstruction>;
  /** A person talks on the call of an attempt, whatever machine detection has said. Has no effect once the attempt is over. */
  correctVerdict(key: string): Promise<void>;
  /** Gives an inbound call a slot. False: all slots are taken. */
  admitInboundCall(organizationId: number, call: InboundCall): Promise<boolean>;
  /**
   * The telephony configuration, the plan or a setting has changed: the dialling policy is read anew, and queued calls are reconsidered.
   */
  dialingPolicyChanged(): Promise<void>;
  /** The conversations of these calls are finalized: the slots stop waking their objects. */
  markFinalized(keys: string[]): Promise<void>;
  /** The status of an attempt's line and, while the attempt is queued, what it waits for; null: the attempt is unknown or long over. */
  getCallStatus(key: string): Promise<{ callStatus: string; reason: string | null } | null>;
  /** When `min_hours_between_calls` allows the next call to a number, epoch ms; 0: at any time. */
  getNextCallAllowedAt(phone: string): Promise<number>;
  /** Counts the calls of an owner, and explains why none of the queued ones is dialled. */
  getOwnerStatus(owner: Owner): Promise<OwnerStatus>;
  /** Calls that stand still, at most `limit` of them, and what the queued ones wait for. */
  getStandstill(limit: number): Promise<CallStandstill>;
  /** Looks at a call that stands still at once. False: it is unknown, or does not stand still. */
  recheckCall(key: string): Promise<boolean>;
  /** Before a telephony configuration is deleted: answers how many live calls it has. With none, no further call is dialled with it. */
  closeConfig(configId: number): Promise<number>;
  /** Does due work after a lost alarm. */
  wakeStalled(): Promise<void>;
}

/**
 * - `ready`: the agent greets as soon as a line is connected.
 * - `talking`: the agent has greeted.
 * - `over`: the conversation or its line has ended.
 * - `unknown`: there is no such run, or it was completed before.
 * - `unsound`: the agent's definition cannot be read, so there is no conversation.
 */
export type BeginResult = 'ready' | 'talking' | 'over' | 'unknown' | 'unsound';

/**
 * What to do with a line whose relay session is over. `connect`: open a new session. `never_begun`: end the line, on which the agent has
 * not talked. Else what handing the caller to a human needs.
 */
export type RelayEndAction = 'connect' | 'hang_up' | 'never_begun' | HandOverAction;

/** A human to dial, but for the addresses of callbacks. */
export type HumanOrder = Omit<HumanToDial, 'attemptKey' | 'statusUrl'>;

/**
 * What to do for a caller who is handed to a human. `callId` is the carrier's id of the caller's line, `leg` the number of the transfer.
 * `hang_up` ends the line of the caller, `drop` that of the human. `connect` gives the caller back to the agent. `announce` says a text to the
 * human, `bridge` connects the two: both for a carrier with commands.
 */
export type HandOverAction =
  | { step: 'none' | 'drop' }
  | { step: 'hang_up'; callId: string }
  | { step: 'connect' | 'bridge'; callId: string; leg: number }
  | { step: 'announce'; leg: number; text: string; language: string | null }
  | { step: 'dial'; callId: string; human: HumanOrder };

/** JSON of a bounded type: the types of RPC would expand `Json` without end. */
type JsonObject = Record<string, string | number | boolean | object | null>;

/** A live conversation as a run record shows it: `AgentRunResult` with `RunLogs`. */
export interface LiveRunSnapshot {
  gathered_context: JsonObject;
  cost_info: JsonObject;
  annotations: JsonObject;
  transfers?: TransferRecord[];
  logs: { events: { type: string; at: string; node_id: string; payload: JsonObject }[]; status_callbacks: CallEnd['statusCallbacks'] };
}

/**
 * The conversation of one call or text chat, in an object named `{organization_id}/{run_id}`. It exists from the answer of the call, or the
 * start of the chat, until the run is completed and all follow-up work is done. Each method may be repeated.
 */
export interface CallRpc {
  /** Loads the conversation from its row. `callId` is the carrier's id of the call; `hasLiveTools` is for a chat. */
  begin(organizationId: number, runId: number, options?: { hasLiveTools?: boolean; callId?: string }): Promise<BeginResult>;
  /** Records that the carrier's relay session is over, and answers what to do with the line. */
  relayEnded(event: RelayEndEvent, line?: { configId: number; takesCommands: boolean }): Promise<RelayEndAction>;
  /** Records a report on the line of a human, and answers what to do next. */
  humanEvent(leg: number, report: LegFact): Promise<HandOverAction>;
  /** What a human hears before the caller; null: the caller has gone. */
  announcement(leg: number): Promise<{ text: string | null; language: string | null } | null>;
  /** Whether the agent waits for this call of the carrier and has not been connected. */
  isUnstarted(callId: string): Promise<boolean>;
  /** Deletes a conversation that has not started: the call is finalized as unanswered. */
  abandon(callId: string): Promise<void>;
  /** The voice and speech recognition of the agent; null: there is no call. */
  speechOptions(): Promise<SpeechOptions | null>;
  /**
   * Machine detection found a machine after the conversation had begun, or the end of its greeting. The agent leaves its message or stops, unless a
   * person is talking.
   */
  machineAnswered(isGreetingOver?: boolean): Promise<void>;
  /** Finalizes the run after the end of its line. Loads the conversation if it is not there. */
  callEnded(organizationId: number, runId: number, end: CallEnd): Promise<void>;
  /** Stores the carrier's recording in R2, with tries for about a day; or records that there is none. */
  recordingReady(configId: number, event: RecordingEvent): Promise<void>;
  /** Does due work after a lost alarm. False: there is no such object. */
  wakeStalled(): Promise<boolean>;
  /** The conversation as it is now; null: the object is gone, and the row is complete. */
  snapshot(): Promise<LiveRunSnapshot | null>;
  /** Sends a message to a chat, and answers what the agent says. A repeat under the message's key is not said again. */
  sendMessage(organizationId: number, runId: number, message: ChatMessage): Promise<ChatAnswer>;
  /** As `sendMessage`, with server-sent events while the agent speaks. The answer goes on when the reader disconnects. */
  streamMessage(
    organizationId: number,
    runId: number,
    message: ChatMessage,
  ): Promise<{ refusal: ChatRefusal | null; stream: ReadableStream<Uint8Array> | null }>;
  /** Ends a chat, and completes its run before answering if possible. */
  endChat(organizationId: number, runId: number): Promise<{ refusal: ChatRefusal | null }>;
}

/**
 * Calls the object that holds an organization's call slots, again when the call broke.
 * @example await withCallSlots(bindings, organization.id, (slots) => slots.withdrawCalls(organization.id, [key]));
 */
export const withCallSlots = <Answer>(
  bindings: Env,
  organizationId: number,
  call: (slots: CallSlotsRpc) => Promise<Answer>,
): Promise<Answer> => callDurableObject(() => bindings.CALL_SLOTS.getByName(String(organizationId)) as unknown as CallSlotsRpc, call);

/**
 * Calls the object of a call or chat, again when the call broke.
 * @example const live = await withCallObject(bindings, organization.id, runId, (object) => object.snapshot());
 */
export const withCallObject = <Answer>(
  bindings: Env,
  organizationId: number,
  runId: number,
  call: (object: CallRpc) => Promise<Answer>,
): Promise<Answer> => callDurableObject(() => bindings.CALL.getByName(`${organizationId}/${runId}`) as unknown as CallRpc, call);
