import type { z } from 'zod';
import type { Context } from '../../context.ts';
import type { ActionFailure } from '../../integrations/actions/run-action.ts';
import type { AppendedRow, RowToAppend } from '../../integrations/actions/append-row.ts';
import type { IssueRequest } from '../../integrations/actions/create-issue.ts';
import type { ChatMessage, PostedMessage } from '../../integrations/actions/post-message.ts';
import type { ChunkSearch, FoundChunk } from '../../knowledge-base/search/search-chunks.ts';
import type { Json } from '../../library/json/json.ts';
import type { SentMessage, MessageToSend } from '../../messaging/messages/send-message.ts';
import type { CalendarEvent, EventToCreate } from '../../providers/apps/calendar.ts';
import type { Issue } from '../../providers/apps/tracker.ts';
import type { RunState } from '../run-states.ts';
import type { OutboundRequest, OutboundResponse } from '../../expressions/http-request/request.ts';
import type { Scope } from '../../expressions/templates/render.ts';

export interface GraphNode {
  id: string;
  type: string;
  name?: string | undefined;
  data: Record<string, unknown>;
}

/** One visit of a run to a node, with all that the node may use. Nodes keep no state between visits. */
export interface Step<Data = unknown> {
  node: GraphNode;
  /** Parsed by the node type's `dataSchema`. */
  data: Data;
  scope: Scope;
  /** Epoch ms; in a dry run, of the virtual clock. */
  now: number;
  /** Epoch ms at which this visit began: the previous step completed then. */
  enteredAt: number;
  /** `${run}:${node}:${visit}:${attempt}`. A side effect that is repeated after a crash has the same key. */
  key: string;
  /** An earlier try of this visit began, so its side effect may already have happened. */
  mayHaveHappened: boolean;
  /** How many earlier tries of this attempt failed by the platform before a request left the service. */
  unaskedTries: number;
  /** Epoch ms at which quiet hours begin next, when they apply to this visit; null: never. */
  quietHoursStart: number | null;
  /** For a node that requests a call: the call's name within the run, and the epoch ms until which the run waits for the call, once known. */
  call: { item: string; until: number | null };
  dryRun: boolean;
  effects: Effects;
  organization: { default_country: string; timezone: string };
}

/** The run goes on along the edge at `handle`, else along the edge at `fallbackHandle`. `assign` are top-level variables to write. */
export interface NextResult {
  kind: 'next';
  handle: string;
  fallbackHandle?: string | undefined;
  output?: unknown;
  assign?: Record<string, Json>;
  /** The requested call, when the run does not wait for its end. */
  callRunId?: number;
  /** The variant that a split has chosen, for statistics. */
  variant?: string;
  /** What a language model was asked and has answered, for statistics. */
  usage?: TokenUsage;
}

export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
}

export type StepResult =
  | NextResult
  /** The step waits until the epoch ms `until` and is tried again. This does not count as a failed try. */
  | { kind: 'hold'; until: number; output: Record<string, unknown> }
  /** The run sleeps until the epoch ms `until`, then goes on along `default`. */
  | { kind: 'wait'; until: number; output?: unknown }
  | EventWaitResult
  /** The run sleeps until the run that this step started has ended. */
  | { kind: 'wait_for_run'; runId: number; output: unknown }
  /** The run sleeps until the call that this step requested has ended. A call that is not dialled by the epoch ms `until` is withdrawn. */
  | { kind: 'wait_for_call'; runId: number; until: number; output: unknown }
  | { kind: 'exit'; outcome: string | null; output?: unknown }
  | { kind: 'fail'; type: string; message: string; retryable: boolean; retryAfterSeconds?: number | undefined };

/** The run sleeps until an event arrives and goes on along `received`; at the epoch ms `until` it goes on along `timeout`. */
interface EventWaitResult {
  kind: 'wait_for_event';
  until: number;
  events: EventSubscription;
  output: unknown;
}

/** The events that end a wait: of one of `types`, with `value` at the path `field` (null: the event's contact has the id `value`). */
export interface EventSubscription {
  types: string[];
  field: string | null;
  value: string;
  /** Epoch ms; earlier events do not count. */
  since: number;
}

/**
 * The side effects of nodes. A repeat under the same key changes nothing, unless the method says otherwise. A refusal is thrown as a
 * ServiceError. A method that is not repeatable throws a platform error only while no request has left the service, so that the caller may
 * call again.
 */
export interface Effects {
  /** Changes the run's contact. Keys of `set` are standard columns or `custom_fields.<key>`; null clears a field. */
  updateContact(key: string, change: ContactChange): Promise<Json>;
  /** Adds the run's contact to lists and removes it from others, by name. A list in `add` that does not exist is created. */
  changeLists(key: string, change: ListChange): Promise<Json>;
  /** Stores an event of the run's contact. */
  emitEvent(key: string, event: EmittedEvent): Promise<Json>;
  /** Sends a request outside and returns the response, whatever its status. */
  httpRequest(key: string, request: OutboundRequest): Promise<OutboundResponse>;
  /** Asks a language model. */
  completeText(key: string, request: TextRequest): Promise<TextAnswer>;
  /** The chunks of the organization's documents that match a query best, best first. It only reads, so a dry run performs it. */
  searchKnowledge(search: ChunkSearch): Promise<FoundChunk[]>;
  /** Starts a run of another journey for the same contact, once a visit however often the step is tried. */
  startRun(key: string, request: ChildRequest): Promise<ChildRun>;
  /** Requests a call by a voice agent. Requests with the same `item` are the same call. */
  startCall(item: string, request: CallRequest): Promise<StartedCall>;
  /** Sends a message, or returns the result of the message with this key. A message that cannot be sent is a result, not an error. */
  sendMessage(key: string, message: MessageRequest): Promise<SentMessage>;
  /** Posts to a channel of the connected chatapp. Not repeatable: a repeat posts again. */
  postToChannel(key: string, message: ChatMessage): Promise<PostedMessage | ActionFailure>;
  /** Creates an issue in the connected tracker, once a visit. `mayExist`: look first for the issue of an earlier try. */
  createIssue(key: string, issue: Omit<IssueRequest, 'key'>): Promise<Issue | ActionFailure>;
  /** Creates an event in the connected calendar, once a visit. */
  createEvent(key: string, event: Omit<EventToCreate, 'key'>): Promise<CalendarEvent | ActionFailure>;
  /** Adds a row to the selected sheet, once a visit. `mayExist`: look first for the row of an earlier try. */
  appendRow(key: string, row: RowToAppend): Promise<AppendedRow | ActionFailure>;
}

type MessageRequest = Pick<MessageToSend, 'to' | 'content' | 'provider' | 'notAfter' | 'unaskedTries'>;

export interface CallRequest {
  /** The voice agent. */
  workflow_id: number;
  /** E.164. */
  phone: string;
  initial_context: Record<string, Json>;
  /** Epoch ms after which the call must not be dialled; null: no limit. */
  not_after: number | null;
}

export interface StartedCall {
  call_run_id: number;
}

/** A request to a language model; `model` null: the default model. */
export interface TextRequest {
  model: string | null;
  system: string | null;
  prompt: string;
  output_schema: Record<string, unknown> | null;
}

export type TextAnswer =
  /** `result` is JSON that fits `output_schema`; without a schema it is the text. */
  | {
      result: Json;
      model: string;
      usage: TokenUsage;
      /** The organization's models that were asked before and failed. */
      fallbacks?: { model: string; failure: string; message: string }[];
    }
  | { failure: string; message: string; retryable: boolean; retry_after_seconds?: number };

export interface ChildRequest {
  workflow_id: number;
  context: Record<string, Json>;
  /** Whether the parent run sleeps until the child run has ended. */
  wait: boolean;
}

export interface ChildRun {
  run_id: number;
  state: RunState;
}

/** How a child run has ended; `variables` are those that its steps wrote. */
export interface ChildResult extends ChildRun {
  outcome: string | null;
  error: { node_id: string | null; message: string; type: string } | null;
  variables: Record<string, unknown>;
}

export interface ContactChange {
  set: Record<string, Json>;
  add_tags: string[];
  remove_tags: string[];
}

interface ListChange {
  add: string[];
  remove: string[];
}

interface EmittedEvent {
  event_type: string;
  data: Record<string, Json>;
}

/**
 * A type of node: one file in `types/` and one line in the registry, nothing else.
 * @example see `types/condition.ts` for a decision, `types/emit-event.ts` for a side effect
 */
export interface NodeType<Data = any> {
  type: string;
  label: string;
  description: string;
  /** A `configObject`: unknown keys are kept, with a warning. */
  dataSchema: z.ZodType<Data>;
  /** The names of the ways out. `data` may be invalid. */
  handles(data: Record<string, unknown>): string[];
  /** The node waits. Every loop of a graph must have such a node. */
  isWait?: boolean;
  /** The node acts on the world: a run of a paused workflow holds before the node, and a dry run only shows the request. */
  isSideEffect?: boolean;
  /** The node requests a call, which is withdrawn when the run ends before the call is dialled. */
  isCall?: boolean;
  /** Whether a visit with this data reaches a person, so that the workflow's quiet hours apply. */
  respectsQuietHours?(data: Data): boolean;
  /**
   * How a visit goes on that crashed between intent and result. `repeat` (the default): the node runs again under the same key.
   * `unknown`: the step fails as `unknown`, since nobody can say whether the side effect happened, and the node does not run again.
   */
  afterCrash?(data: Data): 'repeat' | 'unknown';
  /** Taken again after a crash, the node leaves the same and answers the same: it decides by its data and scope alone, or its effect has a key. */
  comesOutTheSame?: boolean;
  /** The node acts on the contact, or uses the contact's time zone, also where its data does not mention `contact`: the contact is loaded. */
  needsContact?: boolean;
  /** What the data names by id. */
  references?: References;
  /** Valid data, for GET node-types and for the tests. */
  example: Record<string, unknown>;
  /** Performs one visit of a run. */
  run(step: Step<Data>): Promise<StepResult>;
}

/** One id in a node's data, with its path there. */
interface Reference<Id> {
  path: string[];
  id: Id;
}

/** Things of the organization that a node's data names by id. A graph goes active only when the organization has all of them. */
export interface References<Id extends number | string = any> {
  /** What is named, for messages: `active voice agent`. */
  noun: string;
  /** Path of the GET request that lists what may be named. */
  listPath: string;
  /** The ids in data that fits `dataSchema`. */
  find(data: Record<string, unknown>): Reference<Id>[];
  /** Those of `ids` that the organization has. It is called once for all nodes of the type. */
  findExisting(context: Context, ids: Id[]): Promise<ReadonlySet<Id>>;
}

/** The `find` of a type whose data names one thing, in an optional field. */
export const findInField =
  (field: string): References<number>['find'] =>
  (data) =>
    data[field] == null ? [] : [{ path: [field], id: data[field] as number }];

/** Types `run` by the output of `dataSchema`. */
export const defineNode = <Data>(type: NodeType<Data>): NodeType<Data> => type;

export const defaultHandle = 'default';
export const errorHandle = 'error';

/** The handles of an action. When the action fails for good, the run goes on along `error`; without such an edge `on_error` decides. */
export const actionHandles = (): string[] => [defaultHandle, errorHandle];

/** The run goes on along `handle`, else along `fallbackHandle`. */
export const next = (output?: unknown, handle = defaultHandle, fallbackHandle?: string): NextResult => ({
  kind: 'next',
  handle,
  fallbackHandle,
  output,
});

/** The step fails, and another attempt would fail, too. `type` is for programs, `message` says what to change. */
export const failure = (type: string, message: string): StepResult => ({ kind: 'fail', type, message, retryable: false });

/** The result of a side-effect node in a dry run. */
export const simulated = (request: unknown): NextResult => next({ simulated: true, request });
