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
import type { SpeechOptions } from './live-call/speech-options.ts';
import type { ChatAnswer, ChatMessage, ChatRefusal } from './text-chat/contract.ts';

/** How the calls of one owner stand, as a campaign's progress shows it. */
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

/**
 * The call slots of one organization, an object named by the organization's id: every attempt to call a person, and every inbound call. Each
 * method may be called again.
 */
export interface CallSlotsRpc {
  /** Queues the calls of a request that are not known yet. A known call stays as it is. */
  request(organizationId: number, request: CallsRequest): Promise<RequestResult>;
  /** Takes back all calls of an owner that have not been submitted, and has earlier requests (of a lower epoch) count no more. */
  withdraw(organizationId: number, owner: Owner, epoch: number): Promise<void>;
  /** Takes back single calls that have not been submitted. Submitted calls go on. */
  withdrawCalls(organizationId: number, keys: string[]): Promise<void>;
  /** Before the organization is deleted: drops all calls that have not been submitted. Answers the live calls, and how many are being placed. */
  shutDown(): Promise<{ calls: { configId: number; callId: string }[]; unplaced: number }>;
  /**
   * Gives out those of the granted attempts that the caller has the carrier place now. Each attempt is given out once, ever; no more of them a
   * second than the carrier takes, and no more at a time than an answer of RPC can hold. The others are announced again.
   */
  beginCalls(keys: string[]): Promise<BegunCall[]>;
  /** Which of the begun attempts are still wanted. */
  filterWanted(keys: string[]): Promise<string[]>;
  /** Records what became of begun attempts. May come after the carrier's own reports. */
  recordPlacings(placings: PlacingReport[]): Promise<void>;
  /** Records that the agent could not take the line, so that nobody has talked to the person. `why` is a sentence. */
  recordAgentNotConnected(key: string, reason: string): Promise<void>;
  /**
   * Records what the carrier reports of an attempt, and answers what is to be done with the line. `runId` comes from the callback's address: the
   * answer to the request that placed the call may still be on its way.
   */
  recordEvent(key: string, runId: number, event: CallEvent, asks: ResponseChannel): Promise<LineInstruction>;
  /** Gives an inbound call a slot. False: all slots are taken. */
  admitInboundCall(organizationId: number, call: InboundCall): Promise<boolean>;
  /** The telephony configuration, the plan or a setting has changed: the dialling policy is read anew, and queued calls are looked at again. */
  dialingPolicyChanged(): Promise<void>;
  /** The conversations of these calls are finalized: their objects need no more watching. */
  markFinalized(keys: string[]): Promise<void>;
  /** What the line of an attempt does now and, while it is queued, what it waits for; null: the attempt is not known (any more). */
  getCallStatus(key: string): Promise<{ callStatus: string; reason: string | null } | null>;
  getOwnerStatus(owner: Owner): Promise<OwnerStatus>;
  /** Before a telephony configuration is deleted: answers how many live calls it has. With none, no further call is dialled with it. */
  closeConfig(configId: number): Promise<number>;
  /** Goes on with due work after a lost alarm. */
  wakeStalled(): Promise<void>;
}

/**
 * - `ready`: the agent will greet whoever is connected.
 * - `talking`: the agent has greeted.
 * - `over`: the conversation or its line has ended.
 * - `unknown`: there is no such run, or it was completed before.
 * - `unsound`: the agent's definition cannot be read, so there is no conversation.
 */
export type BeginResult = 'ready' | 'talking' | 'over' | 'unknown' | 'unsound';

/** What to do with a line whose relay session is over. `connect`: by a new session. `never_begun`: end the line, on which nobody has talked. */
export type RelayEndAction = 'connect' | 'hang_up' | 'never_begun';

/** JSON as the types of RPC take it: they follow its own type without end. */
type JsonObject = Record<string, string | number | boolean | object | null>;

/** A live conversation as a run record shows it: `AgentRunResult` with `RunLogs`. */
export interface LiveRunSnapshot {
  gathered_context: JsonObject;
  cost_info: JsonObject;
  annotations: JsonObject;
  logs: { events: { type: string; at: string; node_id: string; payload: JsonObject }[]; status_callbacks: CallEnd['statusCallbacks'] };
}

/**
 * The conversation of one call or text chat, an object named `{organization_id}/{run_id}`. It exists from the answer of the call, or the begin
 * of the chat, until the run is completed and all that follows is done. Each method may be called again.
 */
export interface CallRpc {
  /** Loads the conversation from its row. `callId` is the carrier's id of the call; `hasLiveTools` counts for a chat. */
  begin(organizationId: number, runId: number, options?: { hasLiveTools?: boolean; callId?: string }): Promise<BeginResult>;
  /** The carrier's relay session is over. Answers what to do with the line. */
  relayEnded(event: RelayEndEvent): Promise<RelayEndAction>;
  /** Whether the agent was given this call of the carrier and has not been on its line. */
  isUnstarted(callId: string): Promise<boolean>;
  /** Deletes a conversation that has not started: the call is finalized as one on which nobody talked. */
  abandon(callId: string): Promise<void>;
  /** How the agent sounds and hears; null: there is no call. */
  speechOptions(): Promise<SpeechOptions | null>;
  /** Machine detection found a machine after the conversation had begun: the agent stops. */
  machineAnswered(): Promise<void>;
  /** The line has ended, by the carrier's evidence: the run is finalized. Loads the conversation when it is not there. */
  callEnded(organizationId: number, runId: number, end: CallEnd): Promise<void>;
  /** The carrier has a recording, or reports that there is none. A recording is stored in R2, tried for about a day. */
  recordingReady(configId: number, event: RecordingEvent): Promise<void>;
  /** Goes on with due work after a lost alarm. False: there is no such object. */
  wakeStalled(): Promise<boolean>;
  /** The conversation as it is now; null: the object is gone, and the row has the last word. */
  snapshot(): Promise<LiveRunSnapshot | null>;
  /** Says something in a chat, and answers what the agent says. A repeat with the message's key is not said again. */
  sendMessage(organizationId: number, runId: number, message: ChatMessage): Promise<ChatAnswer>;
  /** The same, as server-sent events while the agent speaks. A reader that goes away stops nothing. */
  streamMessage(
    organizationId: number,
    runId: number,
    message: ChatMessage,
  ): Promise<{ refusal: ChatRefusal | null; stream: ReadableStream<Uint8Array> | null }>;
  /** Ends a chat, and completes its run before answering if that is possible. */
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
