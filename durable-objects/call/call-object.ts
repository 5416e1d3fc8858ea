import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations.ts';
import type { RecordingEvent, RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import { carrierWords } from '../../src/providers/telephony/carrier-fault.ts';
import type { LineEnd } from '../../src/voice-agents/dialing/contract.ts';
import { setWakeAt } from '../../src/voice-agents/runs/run-store.ts';
import { isReadable } from '../../src/voice-agents/definition/definition.ts';
import { loadCallFacts } from '../../src/voice-agents/settle/call-facts.ts';
import { keepRecording } from '../../src/voice-agents/settle/keep-recording.ts';
import { voiceOf, type AgentVoice } from '../../src/voice-agents/settle/agent-voice.ts';
import { resultSoFar } from '../../src/voice-agents/settle/settled-call.ts';
import { chatIdleMs, type ChatAnswer, type ChatMessage, type ChatRefusal } from '../../src/voice-agents/text-chat/contract.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { afterRelay, type AfterRelay } from './after-relay.ts';
import { CallRecord, callStep } from './call-record.ts';
import { Chat } from './chat.ts';
import { eventStream } from './event-stream.ts';
import { readRelayFrame } from './relay-frames.ts';
import { Relay } from './relay.ts';
import { follow, leave, settle, type Settling } from './settling.ts';
import { conversationStep, StoredConversation } from './stored-conversation.ts';
import { Talk } from './talk.ts';

/** More than a call ever has. */
const mostTokens = 50;
/** Together about a day. */
const mostRecordingTries = 30;
const recordingDelayMs = 5_000;
const longestRecordingDelayMs = 3_600_000;
/** A chat that is ended by hand is settled at once; this is for when that fails. */
const settleAgainMs = 30_000;

/** JSON as the types of RPC take it: they follow its own type without end. */
type JsonObject = Record<string, string | number | boolean | object | null>;

/**
 * `ready`: the agent will greet whoever is connected. `talking`: it has. `over`: the talk or its line has ended. `unknown`: there is no such
 * run, or it was completed before. `unsound`: its definition cannot be read, and there is no talk.
 */
export type BeginAnswer = 'ready' | 'talking' | 'over' | 'unknown' | 'unsound';

/** A `RunResult` with its `RunLogs`. */
export interface LiveTalk {
  gathered_context: JsonObject;
  cost_info: JsonObject;
  annotations: JsonObject;
  logs: { events: { type: string; at: string; node_id: string; payload: JsonObject }[]; status_callbacks: LineEnd['statusCallbacks'] };
}

/**
 * The talk of one voice agent run, named `{organization_id}/{run_id}`: of a call from its answer on, of a text chat from its beginning. It
 * speaks over the carrier's relay socket, and when the line has ended it settles the run and goes. A recording that comes later makes an
 * object again, for as long as it takes to keep it.
 */
export class CallObject extends LivingObject {
  readonly #record = new CallRecord(this.ctx.storage);
  readonly #store = new StoredConversation(this.ctx.storage);
  readonly #relay = new Relay(this.ctx, () => this.#record.facts.mode);
  #talking: Talk | null = null;
  #chatting: Chat | null = null;
  #settling: Promise<void> | null = null;

  protected schemaSteps() {
    return [callStep, conversationStep];
  }

  /** The row is written once, when the talk is settled. */
  protected async writeProjection(): Promise<void> {}

  /**
   * A person has answered, or a text chat begins: the talk is there from now on, loaded from its row. `callId` is the carrier's name of the
   * call. Repeatable.
   */
  async begin(
    organizationId: number,
    runId: number,
    { hasLiveTools, callId }: { hasLiveTools?: boolean; callId?: string } = {},
  ): Promise<BeginAnswer> {
    const made = await this.#make(organizationId, runId, hasLiveTools);
    if (made !== 'there') return made === 'unsound' ? 'unsound' : 'unknown';
    if (!this.#talk.isLive) return 'over';
    if (callId !== undefined && this.#record.line.callId === null) this.#record.change({ callId });
    if (this.#isChat) await this.#chat.open();
    await this.timers.arm();
    return this.#talk.isBegun ? 'talking' : 'ready';
  }

  /** The carrier opens its relay socket; whoever forwards the request has verified its token, the last part of its path. */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return new Response(null, { status: 426 });
    if (!this.#hasCall() || this.#isChat || this.#record.line.end !== null)
      return Response.json({ detail: 'The call is over' }, { status: 410 });
    const token = new URL(request.url).pathname.split('/').at(-1)!;
    const { usedTokens } = this.#record.line;
    if (usedTokens.includes(token)) return Response.json({ detail: 'This address has opened the call before' }, { status: 409 });
    this.#record.change({ usedTokens: [...usedTokens, token].slice(-mostTokens) });
    const [outer, inner] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.#relay.accept(inner);
    return new Response(null, { status: 101, webSocket: outer });
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    if (!this.#hasCall()) return;
    const frame = readRelayFrame(data);
    const isNew = this.#relay.isNew(socket);
    if (!isNew && !this.#relay.isCurrent(socket)) return;
    if ('fault' in frame) this.#talk.noteFault(frame.fault);
    else if (frame.type === 'error') this.#talk.noteError(frame.description);
    else if ((frame.type === 'setup') === isNew) this.#talk.receive(socket, frame);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    const was = this.#relay.lose(socket);
    if (was !== 'over' && this.#hasCall()) this.#talk.noteLoss(code, was === 'current');
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket, 1006);
  }

  override async leaveNothing(): Promise<void> {
    if (!this.exists()) return;
    this.#relay.closeAll();
    await super.leaveNothing();
  }

  /** The carrier's relay session is over and asks what to do with the line. Repeatable. */
  async relayEnded(event: RelayEndEvent): Promise<AfterRelay> {
    if (!this.#hasCall()) return 'never_begun';
    if (!this.#talk.isLive) return 'hang_up';
    const { answer, change } = afterRelay(this.#record.line, event, this.#talk.isBegun);
    this.#record.change(change);
    if (event.fault) this.#talk.noteError(carrierWords(this.#carrier, event.fault));
    if (event.reason === 'hung_up') this.#talk.stop('hung_up');
    return answer;
  }

  /** Whether the agent was given this call of the carrier and has not been on its line. */
  isUnbegun(callId: string): boolean {
    return this.#hasCall() && this.#record.line.callId === callId && this.#talk.isLive && !this.#talk.isBegun;
  }

  /** The agent comes on the line no more, and the call is settled as one on which nobody talked: nothing is left here. Repeatable. */
  async forgo(callId: string): Promise<void> {
    if (!this.isUnbegun(callId)) return;
    this.#relay.closeAll();
    if (!this.#record.hasTimer('recording')) return this.#go();
    this.#record.drop();
    this.#talking = null;
  }

  /** How the agent sounds and hears; null: there is no call. */
  voice(): AgentVoice | null {
    return this.#hasCall() ? voiceOf(this.#record.facts) : null;
  }

  /** Machine detection came to a verdict after the talk had begun. */
  async machineAnswered(): Promise<void> {
    if (!this.#hasCall() || !this.#talk.isLive) return;
    this.#record.change({ isStopped: true });
    this.#store.log('machine_answered', {}, this.clock());
    this.#talk.stop('stopped');
  }

  /** The line has ended, by the carrier's evidence. The talk is settled from now on. Makes the object when it is not there. Repeatable. */
  async lineEnded(organizationId: number, runId: number, end: LineEnd): Promise<void> {
    // One that is over was settled before, and its object is gone.
    if ((await this.#make(organizationId, runId)) !== 'there') return;
    if (this.#record.line.end === null) {
      this.#talk.stop('hung_up');
      this.#endLine(end);
      this.#relay.closeAll();
    }
    await this.timers.arm();
  }

  /** The carrier has a recording, or knows that there is none. Repeatable. */
  async recorded(configId: number, { status, location }: RecordingEvent): Promise<void> {
    if (status !== 'completed' || location === undefined) return;
    this.ctx.storage.transactionSync(() => {
      if (!this.exists()) this.create();
      if (this.#record.recording()) return;
      this.#record.expectRecording(configId, location);
      this.timers.set('recording', this.clock());
    });
    await this.timers.arm();
  }

  /** Goes on with what is due, whatever became of the alarm. False: there is no such object. */
  async poke(): Promise<boolean> {
    if (!this.exists()) return false;
    await this.timers.arm();
    if (this.#hasCall() && this.#isChat && this.#record.line.end === null) await this.#tellWakeAt();
    return true;
  }

  /** The talk as it is now; null when the object is gone and the row has the last word. */
  snapshot(): LiveTalk | null {
    if (!this.#hasCall()) return null;
    const { facts, line } = this.#record;
    const result = resultSoFar(facts, this.#store.state(), this.clock(), this.settings.LANGUAGE_MODEL);
    const logs = { events: this.#store.events(), status_callbacks: line.end?.statusCallbacks ?? [] };
    return { ...result, logs } as LiveTalk;
  }

  /** Says something in a chat, and answers what the agent says to it. Repeatable by the message's key. */
  async say(organizationId: number, runId: number, message: ChatMessage): Promise<ChatAnswer> {
    const refusal = await this.#openChat(organizationId, runId);
    if (refusal) return { refusal, state: null };
    const answer = await this.#chat.answer(message);
    await this.timers.arm();
    return answer;
  }

  /** The same, told as server-sent events while the agent speaks. Whoever stops listening stops nothing. */
  async sayAloud(
    organizationId: number,
    runId: number,
    message: ChatMessage,
  ): Promise<{ refusal: ChatRefusal | null; stream: ReadableStream<Uint8Array> | null }> {
    const refusal = (await this.#openChat(organizationId, runId)) ?? this.#chat.refusalOf(message);
    if (refusal) return { refusal, stream: null };
    const { stream, tell, close } = eventStream();
    const turn = this.#chat
      .answer(message, tell)
      .then(({ state }) => {
        if (state) tell({ event: 'done', data: state });
        return this.timers.arm();
      })
      .catch((error: unknown) => {
        this.log.error('a streamed turn failed', error);
        tell({ event: 'error', data: { detail: 'The answer could not be finished; read the chat and send the message again' } });
      })
      .finally(close);
    this.ctx.waitUntil(turn);
    return { refusal: null, stream };
  }

  /** Ends a chat, and settles it before it answers if that is possible. Repeatable. */
  async endChat(organizationId: number, runId: number): Promise<{ refusal: ChatRefusal | null }> {
    const refusal = await this.#openChat(organizationId, runId);
    if (refusal) return { refusal };
    this.#talk.stop('stopped');
    this.#endChat(settleAgainMs);
    await this.timers.arm();
    await this.#settle();
    if (this.exists()) await this.timers.arm();
    return { refusal: null };
  }

  protected async onTimer(timer: Timer): Promise<void> {
    switch (timer.kind) {
      case 'look':
        return this.#talk.look();
      case 'end':
        return this.#talk.sendEnd();
      case 'keys':
        return this.#talk.tellKeys();
      case 'idle':
        return this.#endIdleChat();
      case 'settle':
        return this.#settle();
      case 'follow':
        return follow(await this.#settlingParts(), timer.subject);
      case 'leave':
        return this.#leave();
      case 'recording':
        return this.#keepRecording();
      default:
        throw new Error(`a call has no timer "${timer.kind}"`);
    }
  }

  /** Whether there is a talk: an object may have been made for a recording alone. */
  #hasCall(): boolean {
    return this.exists() && this.#record.isThere;
  }

  get #carrier(): 'twilio' | 'telnyx' {
    return this.#record.facts.mode === 'telnyx' ? 'telnyx' : 'twilio';
  }

  get #isChat(): boolean {
    return this.#record.facts.mode === 'textchat';
  }

  get #talk(): Talk {
    this.#talking ??= new Talk({
      state: this.ctx,
      record: this.#record,
      store: this.#store,
      relay: this.#relay,
      timers: this.timers,
      settings: this.settings,
      clock: () => this.clock(),
      log: this.log,
      context: () => this.#knownContext(this.#record.facts.organizationId),
      isThere: () => this.#hasCall(),
      chatEnded: () => this.#endChat(),
    });
    return this.#talking;
  }

  get #chat(): Chat {
    this.#chatting ??= new Chat({ record: this.#record, store: this.#store, talk: this.#talk });
    return this.#chatting;
  }

  async #make(organizationId: number, runId: number, hasLiveTools = false): Promise<'there' | 'over' | 'unknown' | 'unsound'> {
    if (this.#hasCall()) return 'there';
    const context = await this.#context(organizationId);
    const loaded = context && (await loadCallFacts(context, runId));
    // Another call may have made it during the await.
    if (this.#hasCall()) return 'there';
    if (!loaded) return 'unknown';
    if (loaded.isCompleted) return 'over';
    const { facts } = loaded;
    // Whoever starts a talk has looked at its definition, so it is a defect of ours that brings one here.
    if (!isReadable(facts.definition)) return 'unsound';
    this.ctx.storage.transactionSync(() => {
      if (!this.exists()) this.create();
      this.#record.init({ ...facts, hasLiveTools: facts.hasLiveTools || hasLiveTools });
      if (facts.mode === 'textchat') this.timers.set('idle', this.clock() + chatIdleMs);
    });
    return 'there';
  }

  /** Why there is no chat to talk in; null: it is there, and begun. */
  async #openChat(organizationId: number, runId: number): Promise<ChatRefusal | null> {
    const made = await this.#make(organizationId, runId);
    if (made !== 'there') return refused(made === 'over' ? 'completed' : 'gone');
    if (!this.#isChat) return refused('call');
    await this.#chat.open();
    if (!this.#hasCall()) return refused('completed');
    if (this.#record.line.end === null) this.timers.set('idle', this.clock() + chatIdleMs);
    return null;
  }

  #endIdleChat(): void {
    this.#talk.stop('user_idle');
    this.#endChat();
  }

  #endChat(delayMs = 0): void {
    if (this.#record.line.end !== null) return;
    const { state } = this.#talk.conversation;
    const endedAt = state?.end?.at ?? this.clock();
    const startedAt = state?.startedAt ?? endedAt;
    const durationSeconds = Math.round((endedAt - startedAt) / 1000);
    this.#endLine({ outcome: 'completed', reason: null, answeredAt: startedAt, endedAt, durationSeconds, statusCallbacks: [] }, delayMs);
  }

  #endLine(end: LineEnd, delayMs = 0): void {
    this.ctx.storage.transactionSync(() => {
      this.#record.change({ end });
      for (const kind of ['look', 'end', 'keys', 'idle']) this.timers.clear(kind);
      this.timers.set('settle', this.clock() + delayMs);
    });
  }

  #settle(): Promise<void> {
    this.#settling ??= this.#settlingParts()
      .then(settle)
      .finally(() => {
        this.#settling = null;
      });
    return this.#settling;
  }

  async #leave(): Promise<void> {
    await leave(await this.#settlingParts());
    if (!this.#hasCall()) return;
    this.timers.clear('leave');
    if (!this.#record.hasTimer('recording')) await this.#go();
  }

  async #keepRecording(): Promise<void> {
    const pending = this.#record.recording();
    if (!pending) return this.timers.clear('recording');
    const { organizationId, runId } = this.#identity();
    const number = this.#record.tryOnce('recording');
    const kept = await keepRecording(await this.#knownContext(organizationId), runId, pending.configId, pending.location);
    if (!this.exists()) return;
    if (kept.kind !== 'kept') this.log.warn('a recording was not kept', { ...kept, run_id: runId, try: number });
    if (kept.kind === 'later' && number < mostRecordingTries) {
      this.timers.set('recording', this.clock() + Math.min(longestRecordingDelayMs, recordingDelayMs * 2 ** (number - 1)));
      return;
    }
    this.timers.clear('recording');
    const isSettled =
      this.#hasCall() && this.#record.line.end !== null && !['settle', 'follow', 'leave'].some((kind) => this.#record.hasTimer(kind));
    if (isSettled || !this.#hasCall()) await this.#go();
  }

  async #go(): Promise<void> {
    await this.vanish();
    this.#record.forget();
    this.#store.forget();
    this.#talking = null;
    this.#chatting = null;
  }

  /** Has the minute tick look again when this chat is due to end. */
  async #tellWakeAt(): Promise<void> {
    const { runId, organizationId } = this.#record.facts;
    const context = await this.#knownContext(organizationId);
    const due = this.timers.earliest();
    if (due !== null) await context.database.batch([setWakeAt(context, runId, due)], 'same values');
  }

  async #settlingParts(): Promise<Settling> {
    return {
      context: await this.#knownContext(this.#record.facts.organizationId),
      storage: this.ctx.storage,
      record: this.#record,
      store: this.#store,
      talk: this.#talk,
      timers: this.timers,
      isThere: () => this.#hasCall(),
    };
  }

  #identity(): { organizationId: number; runId: number } {
    const [organizationId, runId] = (this.ctx.id.name ?? '').split('/').map(Number) as [number, number];
    return { organizationId, runId };
  }

  async #knownContext(organizationId: number): Promise<Context> {
    const context = await this.#context(organizationId);
    if (!context) throw new OrganizationGoneError(organizationId);
    return context;
  }

  #context(organizationId: number): Promise<Context | null> {
    return backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
  }
}

const refused = (reason: ChatRefusal['refused']): ChatRefusal => ({ refused: reason, revision: 0 });
