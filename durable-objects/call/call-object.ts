import type { Context } from '../../src/accounts/context.ts';
import { backgroundContext } from '../../src/accounts/organizations.ts';
import type { Json } from '../../src/library/json.ts';
import type { CarrierEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { LineEnd } from '../../src/voice-agents/dialing/contract.ts';
import { callSlots } from '../../src/voice-agents/dialing/slots.ts';
import { setWakeAt } from '../../src/voice-agents/runs/run-store.ts';
import { loadCallFacts } from '../../src/voice-agents/settle/call-facts.ts';
import { keepRecording } from '../../src/voice-agents/settle/keep-recording.ts';
import { resultSoFar } from '../../src/voice-agents/settle/settled-call.ts';
import { chatIdleMs, type ChatAnswer, type ChatMessage, type ChatRefusal } from '../../src/voice-agents/text-chat/contract.ts';
import { LivingObject } from '../shared/living-object.ts';
import type { Timer } from '../shared/timers.ts';
import { CallRecord, callStep } from './call-record.ts';
import { Chat } from './chat.ts';
import { eventStream } from './event-stream.ts';
import { readRelayFrame } from './relay-frames.ts';
import { Relay } from './relay.ts';
import { follow, leave, settle, type Settling } from './settling.ts';
import { conversationStep, StoredConversation } from './stored-conversation.ts';
import { Talk } from './talk.ts';

const mostReconnects = 3;
const mostRecordingTries = 10;
const recordingDelayMs = 5_000;
const longestRecordingDelayMs = 3_600_000;
/** A chat that is ended by hand is settled at once; this is for when that fails. */
const settleAgainMs = 30_000;

export interface LiveTalk {
  gathered_context: Record<string, Json>;
  cost_info: Record<string, Json>;
  annotations: Record<string, Json>;
  logs: { events: { type: string; at: string; node_id: string; payload: Record<string, Json> }[]; status_callbacks: LineEnd['statusCallbacks'] };
}

/**
 * The talk of one voice agent run, named `{organization_id}/{run_id}`: of a call from its answer on, of a text chat from its beginning. It
 * speaks over the carrier's relay socket, and when the line has ended it settles the run and goes. A recording that comes later makes an
 * object again, for as long as it takes to keep it.
 */
export class CallObject extends LivingObject {
  readonly #record = new CallRecord(this.ctx.storage);
  readonly #store = new StoredConversation(this.ctx.storage);
  readonly #relay = new Relay(this.ctx);
  #talking: Talk | null = null;
  #chatting: Chat | null = null;
  #settling: Promise<void> | null = null;

  protected schemaSteps() {
    return [callStep, conversationStep];
  }

  /** The row is written once, when the talk is settled. */
  protected async writeProjection(): Promise<void> {}

  /**
   * A person has answered, or a text chat begins: the talk is there from now on, loaded from its row. Repeatable. False: there is no such
   * run, or it is over.
   */
  async begin(organizationId: number, runId: number, { hasLiveTools }: { hasLiveTools?: boolean } = {}): Promise<boolean> {
    if ((await this.#make(organizationId, runId, hasLiveTools)) !== 'there' || !this.#talk.isLive) return false;
    if (this.#isChat) await this.#chat.open();
    await this.timers.arm();
    return true;
  }

  /** The carrier opens its relay socket; whoever forwards the request has verified its token. */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return new Response(null, { status: 426 });
    if (!this.#hasCall() || this.#isChat || this.#record.line.end !== null)
      return Response.json({ detail: 'The call is over' }, { status: 410 });
    const [outer, inner] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.#relay.accept(inner);
    return new Response(null, { status: 101, webSocket: outer });
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    if (!this.#hasCall()) return;
    const frame = readRelayFrame(data);
    const isSetup = 'type' in frame && frame.type === 'setup';
    if (isSetup ? !this.#relay.isNew(socket) : !this.#relay.isCurrent(socket)) return;
    if ('fault' in frame) this.#talk.noteFault(frame.fault);
    else this.#talk.receive(socket, frame);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    if (this.#relay.lose(socket) && this.#hasCall()) this.#talk.noteLoss(code);
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket, 1006);
  }

  /** The carrier's relay session is over and asks what to do with the line. */
  async relayEnded({ reason, sessionId }: CarrierEvent & { kind: 'relay_ended' }): Promise<'connect' | 'hang_up'> {
    if (!this.#hasCall() || !this.#talk.isLive) return 'hang_up';
    if (reason === 'hung_up') this.#talk.stop('hung_up');
    if (reason !== 'lost') return 'hang_up';
    const { lostSessions, reconnects } = this.#record.line;
    // The carrier asks again when our answer was lost.
    if (sessionId !== undefined && lostSessions.includes(sessionId)) return 'connect';
    if (reconnects >= mostReconnects) return 'hang_up';
    this.#record.change({ reconnects: reconnects + 1, lostSessions: sessionId === undefined ? lostSessions : [...lostSessions, sessionId] });
    return 'connect';
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
    const made = await this.#make(organizationId, runId);
    if (made === 'over') {
      // It was settled before, and the object is gone; perhaps that was not heard.
      const key = this.#overKey;
      if (key !== null) await callSlots(this.env, organizationId, (slots) => slots.settled([key]));
    }
    if (made !== 'there') return;
    if (this.#record.line.end === null) {
      this.#talk.stop('hung_up');
      this.#endLine(end);
      this.#relay.closeAll();
    }
    await this.timers.arm();
  }

  /** The carrier has a recording, or knows that there is none. Repeatable. */
  async recorded(configId: number, { status, url }: CarrierEvent & { kind: 'recording' }): Promise<void> {
    if (status !== 'completed' || url === undefined) return;
    this.ctx.storage.transactionSync(() => {
      if (!this.exists()) this.create();
      if (this.#record.recording()) return;
      this.#record.expectRecording(configId, url);
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
    return { ...result, logs: { events: this.#store.events(), status_callbacks: line.end?.statusCallbacks ?? [] } } as unknown as LiveTalk;
  }

  /** Says something in a chat, and answers what the agent says to it. Repeatable by the message's key. */
  async say(organizationId: number, runId: number, message: ChatMessage): Promise<ChatAnswer> {
    const refusal = await this.#openChat(organizationId, runId);
    if (refusal) return refusal;
    const answer = await this.#chat.answer(message);
    await this.#afterChatTurn();
    return answer;
  }

  /** The same, told as server-sent events while the agent speaks. Whoever stops listening stops nothing. */
  async sayAloud(organizationId: number, runId: number, message: ChatMessage): Promise<ReadableStream<Uint8Array> | ChatRefusal> {
    const refusal = (await this.#openChat(organizationId, runId)) ?? this.#chat.refusalOf(message);
    if (refusal) return refusal;
    const { stream, tell, close } = eventStream();
    const turn = this.#chat
      .answer(message, tell)
      .then(async (answer) => {
        if (!('refused' in answer)) tell({ event: 'done', data: answer });
        await this.#afterChatTurn();
      })
      .catch((error: unknown) => {
        this.log.error('a streamed turn failed', error);
        tell({ event: 'error', data: { detail: 'The answer could not be finished; read the chat and send the message again' } });
      })
      .finally(close);
    this.ctx.waitUntil(turn);
    return stream;
  }

  /** Ends a chat, and settles it before it answers if that is possible. Repeatable. */
  async endChat(organizationId: number, runId: number): Promise<null | ChatRefusal> {
    const refusal = await this.#openChat(organizationId, runId);
    if (refusal) return refusal;
    this.#talk.stop('stopped');
    this.#endChat(settleAgainMs);
    await this.timers.arm();
    await this.#settle();
    if (this.exists()) await this.timers.arm();
    return null;
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
        return follow(await this.#settlingNow(), timer.subject);
      case 'leave':
        return this.#leave();
      case 'recording':
        return this.#keepRecording();
      default:
        throw new Error(`a call has no timer "${timer.kind}"`);
    }
  }
}
