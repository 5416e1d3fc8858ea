import type { Context } from '../../src/context.ts';
import { retrievePassages } from '../../src/knowledge-base/search/retrieve-passages.ts';
import type { Clock } from '../../src/library/time/clock.ts';
import type { Logger } from '../../src/library/platform/log.ts';
import type { Settings } from '../../src/settings.ts';
import type { SpeechSink, TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { createConversation } from '../../src/calls/live-call/create-conversation.ts';
import type { Timers } from '../shared/timers.ts';
import type { CallRecord } from './call-record.ts';
import { addPressedKey, formatPressedKeys, keyGapMs, type RelayFrame } from './relay-frames.ts';
import type { RelaySockets } from './relay-sockets.ts';
import type { StoredConversation } from './stored-conversation.ts';

/** An answer that nobody is working at any more, as after a crash that the line outlived, is taken up after this. */
const resumeAfterMs = 15_000;
const maxLoggedFaults = 20;

export interface LiveConversationOptions {
  state: DurableObjectState;
  record: CallRecord;
  store: StoredConversation;
  relay: RelaySockets;
  timers: Timers;
  settings: Settings;
  clock: Clock;
  log: Logger;
  /** Of the call's organization, for what is looked up while somebody talks. */
  context(): Promise<Context>;
  /** Whether the object still has a call. */
  hasCall(): boolean;
  /** Told when a chat has ended by itself. Of a call the line decides. */
  onChatEnded(): void;
}

/**
 * What is said in a call, and when. Timers: `look` (what a silence or the length of the call leads to), `end` (the goodbye has been spoken),
 * `keys` (no further key was pressed). In a text chat there is no line, and the last two never come.
 */
export class LiveConversation {
  readonly #parts: LiveConversationOptions;
  #conversation: Conversation | null = null;
  /** When the `look` timer is due; null: not known in this waking. */
  #guardTimerAt: number | null = null;
  /** Turns that are being answered. */
  #answering = 0;
  /** Of a chat: where its words go at the moment. */
  chatSink: SpeechSink | null = null;

  constructor(parts: LiveConversationOptions) {
    this.#parts = parts;
  }

  get conversation(): Conversation {
    const { record, store, settings, clock } = this.#parts;
    this.#conversation ??= createConversation(record.setup, {
      store,
      say: (...spoken) => this.#speak(...spoken),
      retrieve: (...asked) => this.#searchDocuments(...asked),
      settings,
      now: clock,
    });
    return this.#conversation;
  }

  /** Somebody was greeted, or is about to be. */
  get hasStarted(): boolean {
    return this.conversation.state !== null;
  }

  /** Not begun, or not ended. */
  get isLive(): boolean {
    const { isStopped, end } = this.#parts.record.line;
    return !isStopped && end === null && (this.conversation.state?.end ?? null) === null;
  }

  #speak(...spoken: Parameters<SpeechSink>): void {
    if (this.#isChat) this.chatSink?.(...spoken);
    else this.#parts.relay.say(...spoken);
  }

  async #searchDocuments(query: string, documentUuids: string[] | null, signal: AbortSignal): ReturnType<typeof retrievePassages> {
    const { context, log } = this.#parts;
    try {
      return await retrievePassages(await context(), query, documentUuids, signal);
    } catch (error) {
      if (!signal.aborted) log.error('documents could not be looked into', error);
      throw error;
    }
  }

  get #isChat(): boolean {
    return this.#parts.record.setup.mode === 'textchat';
  }

  /** A frame of the session that counts, or the setup of a new one. */
  handleFrame(socket: WebSocket, frame: Exclude<RelayFrame, { type: 'error' }>): void {
    switch (frame.type) {
      case 'setup':
        return this.#startSession(socket, frame.sessionId, frame.callSid);
      case 'prompt':
        return frame.last ? this.#handleSpeech(frame.voicePrompt) : this.conversation.recordActivity();
      case 'interrupt':
        this.#parts.relay.cutUtterance();
        this.conversation.interrupt(frame.utteranceUntilInterrupt);
        return this.scheduleGuard();
      case 'dtmf':
        return this.#handleKey(frame.digit);
    }
  }

  /** The first session is greeted; a later one is the same talk on a new line, where what has no answer is answered. */
  #startSession(socket: WebSocket, sessionId: string, callId: string | undefined): void {
    const { relay, store, record, clock } = this.#parts;
    if (callId !== undefined && callId !== (record.line.callId ?? callId)) {
      this.logFrameFault('callSid: the session is one of another call');
      return relay.refuse(socket);
    }
    if (callId !== undefined && record.line.callId === null) record.updateLine({ callId });
    relay.startSession(socket, sessionId);
    const { state } = this.conversation;
    if (!this.isLive) return this.endRelaySession();
    store.log(state === null ? 'line_connected' : 'line_reconnected', { session_id: sessionId }, clock());
    this.trackTurn(state === null ? this.conversation.start() : this.conversation.resume());
  }

  /** What is said to a goodbye is its answer: the line need not wait for it to be spoken to the end. */
  #handleSpeech(said: string): void {
    const { record } = this.#parts;
    const text = formatPressedKeys(record.line.keys, said);
    if (record.line.keys !== '') this.#saveKeys('');
    if (!this.isLive) return this.endRelaySession();
    this.trackTurn(this.conversation.userTurn(text));
  }

  #handleKey(key: string): void {
    const { record, timers, clock } = this.#parts;
    const added = addPressedKey(record.line.keys, key);
    if ('finished' in added) {
      this.#saveKeys('');
      return this.#handleSpeech(formatPressedKeys(added.finished));
    }
    this.conversation.recordActivity();
    this.#saveKeys(added.pending);
    timers.set('keys', clock() + keyGapMs);
    this.#arm();
  }

  /** No further key was pressed. */
  flushKeys(): void {
    const { keys } = this.#parts.record.line;
    this.#saveKeys('');
    if (keys !== '') this.#handleSpeech(formatPressedKeys(keys));
  }

  #saveKeys(keys: string): void {
    this.#parts.record.updateLine({ keys });
    if (keys === '') this.#parts.timers.clear('keys');
  }

  /** A frame that cannot be read is noted and changes nothing. */
  logFrameFault(fault: string): void {
    this.#logBounded('frame_ignored', { fault });
  }

  /** The carrier did not understand a frame of ours, or cannot do its part. The session goes on, or its socket will be closed. */
  logCarrierError(description: string): void {
    this.#logBounded('carrier_error', { description });
  }

  /** The socket of a session was lost, or one that had not begun any. */
  logSocketLoss(code: number, hadSession: boolean): void {
    const { store, clock } = this.#parts;
    store.log('line_lost', hadSession ? { code } : { code, had_session: false }, clock());
  }

  /** A carrier may send as many of these as it likes. */
  #logBounded(type: string, payload: Record<string, string>): void {
    const { store, clock } = this.#parts;
    if (store.countEvents(type) < maxLoggedFaults) store.log(type, payload, clock());
  }

  /** Sees to what follows from a turn, while it is answered and afterwards. The outcome is null when it failed. */
  trackTurn(turn: Promise<TurnOutcome>): Promise<TurnOutcome | null> {
    const { state, log } = this.#parts;
    this.#answering++;
    const followed = turn
      .then((outcome) => {
        this.#afterTurn(outcome);
        return outcome;
      })
      .catch((error: unknown) => {
        log.error('a turn failed', error);
        return null;
      })
      .finally(() => {
        this.#answering--;
      });
    state.waitUntil(followed);
    this.scheduleGuard();
    return followed;
  }

  #afterTurn({ end, speaksUntil }: TurnOutcome): void {
    const { timers } = this.#parts;
    // The call may have been settled, and the object be gone, while the turn was answered.
    if (!this.#parts.hasCall()) return;
    if (end !== null && this.#isChat) this.#parts.onChatEnded();
    else if (end !== null) timers.ensure('end', speaksUntil);
    this.scheduleGuard();
    this.#arm();
  }

  /** Sets the `look` timer when what is due next comes before it. One that comes too early finds nothing and is set anew. */
  scheduleGuard(): void {
    const { timers, clock } = this.#parts;
    const { nextGuardAt, state } = this.conversation;
    const next = Math.min(nextGuardAt, state?.owesAnswer && !state.end ? clock() + resumeAfterMs : Infinity);
    if (next >= (this.#guardTimerAt ?? Infinity) || next === Infinity) return;
    this.#guardTimerAt = next;
    timers.set('look', next);
    this.#arm();
  }

  /** Somebody is silent, the time is up, or an answer was forgotten. */
  applyGuards(): void {
    const { timers } = this.#parts;
    timers.clear('look');
    this.#guardTimerAt = null;
    const { state } = this.conversation;
    const isForgotten = state?.owesAnswer === true && state.end === null && this.#answering === 0;
    if (isForgotten) this.trackTurn(this.conversation.resume());
    else {
      const { action, outcome } = this.conversation.applyDueGuard();
      if (action !== 'none') this.#afterTurn(outcome);
    }
    this.scheduleGuard();
  }

  /** Ends the talk at once, and the line with it, where there still is one. */
  stop(reason: 'stopped' | 'hung_up' | 'user_idle'): void {
    if (this.conversation.state) this.conversation.end(reason);
    this.endRelaySession();
  }

  /** The goodbye has been spoken, or nobody waits for it. */
  endRelaySession(): void {
    const { relay, timers, record } = this.#parts;
    timers.clear('end');
    relay.endSession({ run_id: record.setup.runId, reason: this.conversation.state?.end?.reason ?? 'stopped' });
  }

  #arm(): void {
    const { timers, state, log } = this.#parts;
    state.waitUntil(timers.arm().catch((error: unknown) => log.error('the alarm could not be set', error)));
  }
}
