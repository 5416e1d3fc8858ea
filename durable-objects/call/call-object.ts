import type { Context } from '../../src/context.ts';
import { backgroundContext, OrganizationGoneError } from '../../src/accounts/organizations/background-context.ts';
import type { RecordingEvent, RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import { findCarrierAdapter } from '../../src/providers/telephony/registry.ts';
import type { CarrierAdapter } from '../../src/providers/telephony/telephony.ts';
import { formatCarrierError } from '../../src/providers/telephony/carrier-error.ts';
import type { CallEnd } from '../../src/calls/contract.ts';
import { updateWakeAt } from '../../src/calls/records/store.ts';
import type { LegFact } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { isReadable } from '../../src/voice-agents/definition/definition.ts';
import { loadCallSetup } from '../../src/calls/live-call/call-setup.ts';
import { storeRecording } from '../../src/calls/post-call/store-recording.ts';
import { type SpeechOptions, toSpeechOptions } from '../../src/calls/live-call/speech-options.ts';
import { toInterimResult } from '../../src/calls/post-call/run-completion.ts';
import { type ChatAnswer, chatIdleMs, type ChatMessage, type ChatRefusal } from '../../src/calls/text-chat/contract.ts';
import type { BeginResult, CallRpc, HandOverAction, LiveRunSnapshot, RelayEndAction } from '../../src/calls/rpc.ts';
import { BaseDurableObject } from '../shared/base-durable-object.ts';
import { TableStore } from '../shared/object-store.ts';
import type { AlarmDelay, Timer } from '../shared/timers.ts';
import { decideAfterRelayEnd, RelaySockets } from './relay-sockets.ts';
import { HandOver } from './hand-over.ts';
import { MachineVerdict } from './machine-verdict.ts';
import { withCallSlots } from '../../src/calls/rpc.ts';
import { CallRecord, callTimers } from './call-record.ts';
import { Chat, createEventStream } from './chat.ts';
import { parseRelayFrame } from './relay-frames.ts';
import type { PostCallContext } from './post-call-context.ts';
import { finalizeCall, finishPostCall, runFollowUp } from './post-call.ts';
import { callSchemaSteps, newCallSchema } from './schema.ts';
import { StoredConversation } from './stored-conversation.ts';
import { LiveConversation } from './live-conversation.ts';

/** More tokens than a call ever uses. */
const maxTokens = 50;
/** All tries together take about a day. */
const maxRecordingTries = 30;
const recordingDelayMs = 5_000;
const maxRecordingDelayMs = 3_600_000;
/** A chat that is ended by request is finalized at once. After this delay a failed finalization is repeated. */
const finalizeRetryMs = 30_000;

/**
 * The conversation of one voice agent run, named `{organization_id}/{run_id}`: of a call from its answer, of a text chat from its start. It
 * speaks over the carrier's relay socket. After the end of the line it finalizes the run and deletes itself. A recording that comes later
 * creates the object again, until the recording is stored. `CallRpc` documents the methods.
 */
export class CallObject extends BaseDurableObject implements CallRpc {
  readonly #record = new CallRecord(this.ctx.storage);
  readonly #store = new StoredConversation(this.ctx.storage);
  readonly #relay = new RelaySockets(this.ctx, () => this.#carrier?.holdsLastToken ?? false);
  #cachedConversation: LiveConversation | null = null;
  #cachedChat: Chat | null = null;
  #cachedHandOver: HandOver | null = null;
  #cachedMachineVerdict: MachineVerdict | null = null;
  #finalizing: Promise<void> | null = null;

  protected openStore(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    return new TableStore(storage, { steps: callSchemaSteps, newObject: newCallSchema }, alarmDelay);
  }

  /** Empty: the row is written once, when the run is finalized. */
  protected async writeProjection(): Promise<void> {}

  async begin(
    organizationId: number,
    runId: number,
    { hasLiveTools, callId }: { hasLiveTools?: boolean; callId?: string } = {},
  ): Promise<BeginResult> {
    const presence = await this.#ensureCall(organizationId, runId, { hasLiveTools, callId });
    if (presence !== 'present') return presence === 'unsound' ? 'unsound' : 'unknown';
    if (!this.#conversation.isLive) return 'over';
    if (callId !== undefined && this.#record.line.callId === null) this.#record.updateLine({ callId });
    if (this.#isChat) await this.#chat.open();
    await this.timers.arm();
    return this.#conversation.hasStarted ? 'talking' : 'ready';
  }

  /** Accepts the carrier's relay socket. The route that forwards the request has verified its token, the last part of its path. */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return new Response(null, { status: 426 });
    if (!this.#hasCall() || this.#isChat || this.#record.line.end !== null)
      return Response.json({ detail: 'The call is over' }, { status: 410 });
    const token = new URL(request.url).pathname.split('/').at(-1)!;
    const { usedTokens } = this.#record.line;
    if (usedTokens.includes(token)) return Response.json({ detail: 'This address has opened the call before' }, { status: 409 });
    this.#record.updateLine({ usedTokens: [...usedTokens, token].slice(-maxTokens) });
    const [outer, inner] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.#relay.accept(inner);
    return new Response(null, { status: 101, webSocket: outer });
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    if (!this.#hasCall()) return;
    const frame = parseRelayFrame(data);
    const isNew = this.#relay.isNew(socket);
    if (!isNew && !this.#relay.isCurrent(socket)) return;
    if ('fault' in frame) this.#conversation.logFrameFault(frame.fault);
    else if (frame.type === 'error') this.#conversation.logCarrierError(frame.description);
    else if ((frame.type === 'setup') === isNew) this.#conversation.handleFrame(socket, frame);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    const previous = this.#relay.markClosed(socket);
    if (previous !== 'over' && this.#hasCall()) this.#conversation.logSocketLoss(code, previous === 'current');
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket, 1006);
  }

  override async deleteAllData(): Promise<void> {
    if (!this.exists()) return;
    this.#relay.closeAll();
    await super.deleteAllData();
  }

  async relayEnded(event: RelayEndEvent, line?: { configId: number; takesCommands: boolean }): Promise<RelayEndAction> {
    if (!this.#hasCall()) return 'never_begun';
    if (!this.#conversation.isLive) return 'hang_up';
    if (event.reason !== 'hung_up' && this.#conversation.conversation.handedOverLeg) {
      const action = this.#handOver.begin(event, line);
      await this.timers.arm();
      return this.#handOver.afterSummary(action);
    }
    const { answer, change } = decideAfterRelayEnd(this.#record.line, event, this.#conversation.hasStarted);
    this.#record.updateLine(change);
    if (event.fault && this.#carrier) this.#conversation.logCarrierError(formatCarrierError(this.#carrier, event.fault));
    if (event.reason === 'hung_up') this.#conversation.stop('hung_up');
    return answer;
  }

  async humanEvent(leg: number, report: LegFact): Promise<HandOverAction> {
    if (!this.#hasCall()) return { step: report.fact === 'bridged' || report.fact === 'ended' ? 'none' : 'drop' };
    const action = this.#handOver.record(leg, report);
    await this.timers.arm();
    return this.#handOver.afterSummary(action);
  }

  async announcement(leg: number): Promise<{ text: string | null; language: string | null } | null> {
    return this.#hasCall() ? this.#handOver.announcement(leg) : null;
  }

  async isUnstarted(callId: string): Promise<boolean> {
    return this.#isUnstarted(callId);
  }

  #isUnstarted(callId: string): boolean {
    return this.#hasCall() && this.#record.line.callId === callId && this.#conversation.isLive && !this.#conversation.hasStarted;
  }

  async abandon(callId: string): Promise<void> {
    if (!this.#isUnstarted(callId)) return;
    this.#relay.closeAll();
    if (!this.#record.hasTimer(callTimers.recording)) return this.#destroyCall();
    this.#record.deleteCall();
    this.#cachedConversation = null;
  }

  async speechOptions(): Promise<SpeechOptions | null> {
    return this.#hasCall() ? toSpeechOptions(this.#record.setup) : null;
  }

  async machineAnswered(isGreetingOver = false): Promise<void> {
    const { organizationId, runId } = this.#parseName();
    // The verdict may come before the agent is connected.
    if ((await this.#ensureCall(organizationId, runId)) !== 'present' || this.#record.line.end !== null) return;
    this.#machineVerdict.report(isGreetingOver);
    await this.timers.arm();
  }

  async callEnded(organizationId: number, runId: number, end: CallEnd): Promise<void> {
    // A call that is over was finalized before, and its object is gone.
    if ((await this.#ensureCall(organizationId, runId)) !== 'present') return;
    if (this.#record.line.end === null) {
      this.#conversation.stop('hung_up');
      this.#endCall(end, this.#handOver.graceMs);
      this.#relay.closeAll();
    }
    await this.timers.arm();
  }

  async recordingReady(configId: number, { status, location }: RecordingEvent): Promise<void> {
    if (status !== 'completed' || location === undefined) return;
    this.ctx.storage.transactionSync(() => {
      if (!this.exists()) this.create();
      if (this.#record.pendingRecording()) return;
      this.#record.insertPendingRecording(configId, location);
      this.timers.set(callTimers.recording, this.clock());
    });
    await this.timers.arm();
  }

  async wakeStalled(): Promise<boolean> {
    if (!this.exists()) return false;
    await this.timers.arm();
    if (this.#hasCall() && this.#isChat && this.#record.line.end === null) await this.#saveWakeAt();
    return true;
  }

  async snapshot(): Promise<LiveRunSnapshot | null> {
    if (!this.#hasCall()) return null;
    const { setup, line } = this.#record;
    const result = toInterimResult(setup, this.#store.state(), this.clock(), this.settings.LANGUAGE_MODEL);
    const logs = { events: this.#store.events(), status_callbacks: line.end?.statusCallbacks ?? [] };
    return { ...result, logs } as LiveRunSnapshot;
  }

  async sendMessage(organizationId: number, runId: number, message: ChatMessage): Promise<ChatAnswer> {
    const refusal = await this.#ensureChat(organizationId, runId);
    if (refusal) return { refusal, state: null };
    const answer = await this.#chat.answer(message);
    await this.timers.arm();
    return answer;
  }

  async streamMessage(
    organizationId: number,
    runId: number,
    message: ChatMessage,
  ): Promise<{ refusal: ChatRefusal | null; stream: ReadableStream<Uint8Array> | null }> {
    const refusal = (await this.#ensureChat(organizationId, runId)) ?? this.#chat.findRefusal(message);
    if (refusal) return { refusal, stream: null };
    const { stream, sendEvent, close } = createEventStream();
    const turn = this.#chat
      .answer(message, sendEvent)
      .then(({ state }) => {
        if (state) sendEvent({ event: 'done', data: state });
        return this.timers.arm();
      })
      .catch((error: unknown) => {
        this.log.error('a streamed turn failed', error);
        sendEvent({ event: 'error', data: { detail: 'The answer could not be finished; read the chat and send the message again' } });
      })
      .finally(close);
    this.ctx.waitUntil(turn);
    return { refusal: null, stream };
  }

  async endChat(organizationId: number, runId: number): Promise<{ refusal: ChatRefusal | null }> {
    const refusal = await this.#ensureChat(organizationId, runId);
    if (refusal) return { refusal };
    this.#conversation.stop('stopped');
    this.#endChat(finalizeRetryMs);
    await this.timers.arm();
    await this.#finalize();
    if (this.exists()) await this.timers.arm();
    return { refusal: null };
  }

  protected async onTimer(timer: Timer): Promise<void> {
    switch (timer.kind) {
      case callTimers.guard:
        return this.#conversation.applyGuards();
      case callTimers.endSession:
        return this.#conversation.endRelaySession();
      case callTimers.keys:
        return this.#conversation.flushKeys();
      case callTimers.idle:
        return this.#endIdleChat();
      case callTimers.finalize:
        return this.#finalize();
      case callTimers.followUp:
        return runFollowUp(await this.#postCallContext(), timer.subject);
      case callTimers.finish:
        return this.#finish();
      case callTimers.recording:
        return this.#storeRecording();
      case callTimers.machine:
        return this.#machineVerdict.onTimer();
      case callTimers.correction:
        return this.#correctVerdict();
      case callTimers.transfer:
        return this.#handOver.onSilence(() => this.#requireContext(this.#record.setup.organizationId));
      default:
        throw new Error(`a call has no timer "${timer.kind}"`);
    }
  }

  /** Whether the object has a call. An object may exist for a recording alone. */
  #hasCall(): boolean {
    return this.exists() && this.#record.hasCall;
  }

  /** The adapter of the call's carrier; undefined for a chat. */
  get #carrier(): CarrierAdapter | undefined {
    return findCarrierAdapter(this.#record.setup.mode);
  }

  get #isChat(): boolean {
    return this.#record.setup.mode === 'textchat';
  }

  get #conversation(): LiveConversation {
    this.#cachedConversation ??= new LiveConversation({
      state: this.ctx,
      record: this.#record,
      store: this.#store,
      relay: this.#relay,
      timers: this.timers,
      settings: this.settings,
      clock: () => this.clock(),
      log: this.log,
      context: () => this.#requireContext(this.#record.setup.organizationId),
      hasCall: () => this.#hasCall(),
      isAnswered: (text) => this.#machineVerdict.hear(text),
      onChatEnded: () => this.#endChat(),
    });
    return this.#cachedConversation;
  }

  get #machineVerdict(): MachineVerdict {
    this.#cachedMachineVerdict ??= new MachineVerdict({
      record: this.#record,
      store: this.#store,
      relay: this.#relay,
      timers: this.timers,
      clock: () => this.clock(),
      live: () => this.#conversation,
    });
    return this.#cachedMachineVerdict;
  }

  /** Repeatable. Not after the end of the line, which the slots have taken as final. */
  async #correctVerdict(): Promise<void> {
    const { organizationId, attemptKey } = this.#record.setup;
    await withCallSlots(this.env, organizationId, (slots) => slots.correctVerdict(attemptKey));
    if (this.exists()) this.timers.clear(callTimers.correction);
  }

  get #handOver(): HandOver {
    this.#cachedHandOver ??= new HandOver({
      record: this.#record,
      relay: this.#relay,
      timers: this.timers,
      clock: () => this.clock(),
      live: () => this.#conversation,
      hasCall: () => this.#hasCall(),
    });
    return this.#cachedHandOver;
  }

  get #chat(): Chat {
    this.#cachedChat ??= new Chat({ record: this.#record, store: this.#store, conversation: this.#conversation });
    return this.#cachedChat;
  }

  async #ensureCall(
    organizationId: number,
    runId: number,
    { hasLiveTools = false, callId = null }: { hasLiveTools?: boolean | undefined; callId?: string | null | undefined } = {},
  ): Promise<'present' | 'over' | 'unknown' | 'unsound'> {
    if (this.#hasCall()) return 'present';
    const context = await this.#context(organizationId);
    const loaded = context && (await loadCallSetup(context, runId));
    // Another RPC may have created the call during the await.
    if (this.#hasCall()) return 'present';
    if (!loaded) return 'unknown';
    if (loaded.isCompleted) return 'over';
    const { facts: setup } = loaded;
    // Definitions are checked before a conversation starts, so only a defect of ours leads here.
    if (!isReadable(setup.definition)) return 'unsound';
    this.ctx.storage.transactionSync(() => {
      if (!this.exists()) this.create();
      this.#record.init({ ...setup, hasLiveTools: setup.hasLiveTools || hasLiveTools }, callId);
      if (setup.mode === 'textchat') this.timers.set(callTimers.idle, this.clock() + chatIdleMs);
    });
    return 'present';
  }

  /** Why messages cannot be sent to the chat; null: the chat exists and has begun. */
  async #ensureChat(organizationId: number, runId: number): Promise<ChatRefusal | null> {
    const presence = await this.#ensureCall(organizationId, runId);
    if (presence !== 'present') return toRefusal(presence === 'over' ? 'completed' : 'gone');
    if (!this.#isChat) return toRefusal('call');
    await this.#chat.open();
    if (!this.#hasCall()) return toRefusal('completed');
    if (this.#record.line.end === null) this.timers.set(callTimers.idle, this.clock() + chatIdleMs);
    return null;
  }

  #endIdleChat(): void {
    this.#conversation.stop('user_idle');
    this.#endChat();
  }

  #endChat(delayMs = 0): void {
    if (this.#record.line.end !== null) return;
    const { state } = this.#conversation.conversation;
    const endedAt = state?.end?.at ?? this.clock();
    const startedAt = state?.startedAt ?? endedAt;
    const durationSeconds = Math.round((endedAt - startedAt) / 1000);
    this.#endCall({ outcome: 'completed', reason: null, answeredAt: startedAt, endedAt, durationSeconds, statusCallbacks: [] }, delayMs);
  }

  #endCall(end: CallEnd, delayMs = 0): void {
    this.ctx.storage.transactionSync(() => {
      this.#record.updateLine({ end });
      // Guards find nothing to do any more, and go with the object.
      for (const kind of [callTimers.keys, callTimers.idle, callTimers.transfer, callTimers.machine, callTimers.endSession])
        this.timers.clear(kind);
      this.timers.set(callTimers.finalize, this.clock() + delayMs);
    });
  }

  #finalize(): Promise<void> {
    this.#finalizing ??= this.#postCallContext()
      .then(finalizeCall)
      .then((isDone) => (isDone ? this.#finish() : undefined))
      .finally(() => {
        this.#finalizing = null;
      });
    return this.#finalizing;
  }

  async #finish(): Promise<void> {
    await finishPostCall(await this.#postCallContext());
    if (!this.#hasCall()) return;
    if (!this.#record.hasTimer(callTimers.recording)) return this.#destroyCall();
    for (const kind of [callTimers.finalize, callTimers.finish]) this.timers.clear(kind);
  }

  async #storeRecording(): Promise<void> {
    const pending = this.#record.pendingRecording();
    if (!pending) return this.timers.clear(callTimers.recording);
    const { organizationId, runId } = this.#parseName();
    const tryNumber = this.#record.countTry('recording');
    const result = await storeRecording(await this.#requireContext(organizationId), runId, pending.configId, pending.location);
    if (!this.exists()) return;
    if (result.kind !== 'kept') this.log.warn('a recording was not kept', { ...result, run_id: runId, try: tryNumber });
    if (result.kind === 'later' && tryNumber < maxRecordingTries) {
      this.timers.set(callTimers.recording, this.clock() + Math.min(maxRecordingDelayMs, recordingDelayMs * 2 ** (tryNumber - 1)));
      return;
    }
    this.timers.clear(callTimers.recording);
    const isFinalized =
      this.#hasCall() &&
      this.#record.line.end !== null &&
      ![callTimers.finalize, callTimers.followUp, callTimers.finish].some((kind) => this.#record.hasTimer(kind));
    if (isFinalized || !this.#hasCall()) await this.#destroyCall();
  }

  async #destroyCall(): Promise<void> {
    await this.destroy();
    this.#record.clearCache();
    this.#store.clearCache();
    this.#cachedConversation = null;
    this.#cachedChat = null;
  }

  /** Has the minute tick check this chat when it is due to end. */
  async #saveWakeAt(): Promise<void> {
    const { runId, organizationId } = this.#record.setup;
    const context = await this.#requireContext(organizationId);
    const due = this.timers.earliest();
    if (due !== null) await context.database.batch([updateWakeAt(context, runId, due)], 'idempotent');
  }

  async #postCallContext(): Promise<PostCallContext> {
    return {
      context: await this.#requireContext(this.#record.setup.organizationId),
      storage: this.ctx.storage,
      record: this.#record,
      store: this.#store,
      conversation: this.#conversation,
      timers: this.timers,
      hasCall: () => this.#hasCall(),
    };
  }

  #parseName(): { organizationId: number; runId: number } {
    const [organizationId, runId] = (this.ctx.id.name ?? '').split('/').map(Number) as [number, number];
    return { organizationId, runId };
  }

  async #requireContext(organizationId: number): Promise<Context> {
    const context = await this.#context(organizationId);
    if (!context) throw new OrganizationGoneError(organizationId);
    return context;
  }

  #context(organizationId: number): Promise<Context | null> {
    return backgroundContext(this.env, organizationId, (work) => this.ctx.waitUntil(work));
  }
}

const toRefusal = (reason: ChatRefusal['refused']): ChatRefusal => ({ refused: reason, revision: 0 });
