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

/** What one visit of a node is given. Nodes keep nothing between visits. */
export interface Step<Data = unknown> {
  node: GraphNode;
  /** Parsed by the node type's `dataSchema`. */
  data: Data;
  scope: Scope;
  /** Epoch ms; in a dry run the virtual clock. */
  now: number;
  /** When the run entered this visit of the node, which is when the step before it completed. */
  enteredAt: number;
  /** `${run}:${node}:${visit}:${attempt}`: the same side effect has the same key, also after a crash. */
  key: string;
  /** An earlier try of this visit was begun, so what it does may have been done. */
  mayHaveHappened: boolean;
  /** How many earlier tries of this attempt met trouble of the platform before they asked anybody outside. */
  unaskedTries: number;
  /** Epoch ms at which quiet hours begin next, for a visit that keeps them; null: never. */
  quietHoursStart: number | null;
  /** Of a visit that asks for a call: its name within the run, and until when (epoch ms) the run waits for it, where that is settled already. */
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
  /** The call that was asked for, when nothing waits for its end. */
  callRunId?: number;
}

export type StepResult =
  | NextResult
  /** Sleep until the epoch ms `until`, then go on along `default`. */
  | { kind: 'wait'; until: number; output?: unknown }
  | EventWaitResult
  /** Sleep until the run that this step started has ended. */
  | { kind: 'wait_for_run'; runId: number; output: unknown }
  /** Sleep until the call that this step asked for has ended; at the epoch ms `until` it is taken back, unless it is under way. */
  | { kind: 'wait_for_call'; runId: number; until: number; output: unknown }
  | { kind: 'exit'; outcome: string | null; output?: unknown }
  | { kind: 'fail'; type: string; message: string; retryable: boolean; retryAfterSeconds?: number | undefined };

/** Sleep until an event comes, then go on along `received`; at the epoch ms `until`, along `timeout`. */
export interface EventWaitResult {
  kind: 'wait_for_event';
  until: number;
  events: EventSubscription;
  output: unknown;
}

/** Which events a wait takes: of one of `types`, whose `field` (a path into the event; null: its contact) equals `value`. */
export interface EventSubscription {
  types: string[];
  field: string | null;
  value: string;
  /** Epoch ms: events accepted before it are not taken. */
  since: number;
}

/**
 * What side-effect nodes may do. Unless it says otherwise, a call is repeatable under the same key; a refusal is thrown as a ServiceError.
 * Trouble of the platform is thrown by what is not repeatable only while nobody outside has been asked: the call is made again.
 */
export interface Effects {
  /** Of the run's contact. Keys of `set` are standard columns or `custom_fields.<key>`; null clears. */
  updateContact(key: string, change: ContactChange): Promise<Json>;
  /** Names of lists; `add` creates those that do not exist. */
  changeLists(key: string, change: ListChange): Promise<Json>;
  emitEvent(key: string, event: EmittedEvent): Promise<Json>;
  httpRequest(key: string, request: OutboundRequest): Promise<OutboundResponse>;
  completeText(key: string, request: TextRequest): Promise<TextAnswer>;
  /** The chunks of the organization's documents that answer a query best, best first. It changes nothing, so a dry run does it, too. */
  searchKnowledge(search: ChunkSearch): Promise<FoundChunk[]>;
  /** Starts a run of another journey for the same contact; once a visit, however often the step is tried. */
  startRun(key: string, request: ChildRequest): Promise<ChildRun>;
  /** Has a voice agent call somebody; the same item is the same call, however often it is asked for. */
  startCall(item: string, request: CallRequest): Promise<StartedCall>;
  /** Sends a message, or tells what became of the one that was asked for under this key. What keeps it from being sent is no error. */
  sendMessage(key: string, message: MessageRequest): Promise<SentMessage>;
  /** Posts to a channel of the connected chatapp: asked again, it does so again. */
  postToChannel(key: string, message: ChatMessage): Promise<PostedMessage | ActionFailure>;
  /** Makes an issue in the connected tracker; once a visit, where `mayExist` says that an earlier try may have. */
  createIssue(key: string, issue: Omit<IssueRequest, 'key'>): Promise<Issue | ActionFailure>;
  /** Makes an event in the connected calendar; once a visit. */
  createEvent(key: string, event: Omit<EventToCreate, 'key'>): Promise<CalendarEvent | ActionFailure>;
  /** Adds a row to the selected sheet; once a visit, where `mayExist` says that an earlier try may have. */
  appendRow(key: string, row: RowToAppend): Promise<AppendedRow | ActionFailure>;
}

export type MessageRequest = Pick<MessageToSend, 'to' | 'content' | 'provider' | 'notAfter' | 'unaskedTries'>;

export interface CallRequest {
  /** The voice agent. */
  workflow_id: number;
  /** E.164. */
  phone: string;
  initial_context: Record<string, Json>;
  /** Epoch ms after which it must not be dialled any more; null: at any time. */
  not_after: number | null;
}

export interface StartedCall {
  call_run_id: number;
}

/** A question to the language model; `model` null: the default one. */
export interface TextRequest {
  model: string | null;
  system: string | null;
  prompt: string;
  output_schema: Record<string, unknown> | null;
}

export type TextAnswer =
  /** `result` is the JSON that fits `output_schema`, else the text. */
  | { result: Json; model: string; usage: { prompt_tokens: number; completion_tokens: number } }
  | { failure: string; message: string; retryable: boolean; retry_after_seconds?: number };

export interface ChildRequest {
  workflow_id: number;
  context: Record<string, Json>;
  /** Whether the run that asks sleeps until the other has ended. */
  wait: boolean;
}

export interface ChildRun {
  run_id: number;
  state: RunState;
}

/** How a run that another one waited for has ended; `variables` are what its steps wrote. */
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

export interface ListChange {
  add: string[];
  remove: string[];
}

export interface EmittedEvent {
  event_type: string;
  data: Record<string, Json>;
}

export interface NodeType<Data = any> {
  type: string;
  label: string;
  description: string;
  /** A `configObject`: unknown keys are kept and warned of. */
  dataSchema: z.ZodType<Data>;
  /** Names of the edges out, of data that may not be valid yet. */
  handles(data: Record<string, unknown>): string[];
  /** Every loop must pass one of these. */
  isWait?: boolean;
  /** Holds while the workflow is paused; in a dry run it is only simulated. */
  isSideEffect?: boolean;
  /** Asks for a call, which is taken back when the run ends before it was dialled. */
  isCall?: boolean;
  /** Whether a visit with this data reaches a person, so that it keeps the workflow's quiet hours. */
  respectsQuietHours?(data: Data): boolean;
  /**
   * What becomes of a visit that crashed between its intent and its result. `repeat`: it is done again under the same key.
   * `unknown`: nobody can say whether it happened, so it fails as `unknown` and is not done again. Default: repeat.
   */
  afterCrash?(data: Data): 'repeat' | 'unknown';
  /** The node acts on the contact, or uses the contact's time zone, also where its data does not mention `contact`: the contact is loaded. */
  needsContact?: boolean;
  /** What the data names by id. */
  references?: References;
  /** Valid data, for GET node-types and for the tests. */
  example: Record<string, unknown>;
  run(step: Step<Data>): Promise<StepResult>;
}

/** One id in a node's data, with its path there. */
export interface Reference<Id> {
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

/** Checks that `run` takes what `dataSchema` gives. */
export const defineNode = <Data>(type: NodeType<Data>): NodeType<Data> => type;

export const defaultHandle = 'default';
export const errorHandle = 'error';

/** The handles of an action: `error` takes over when it fails for good; without an edge there the workflow's on_error decides. */
export const actionHandles = (): string[] => [defaultHandle, errorHandle];

export const next = (output?: unknown, handle = defaultHandle, fallbackHandle?: string): NextResult => ({
  kind: 'next',
  handle,
  fallbackHandle,
  output,
});

export const failure = (type: string, message: string): StepResult => ({ kind: 'fail', type, message, retryable: false });

/** The answer of a side-effect node in a dry run. */
export const simulated = (request: unknown): NextResult => next({ simulated: true, request });
