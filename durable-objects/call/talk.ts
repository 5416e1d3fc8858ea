import type { Context } from '../../src/accounts/context.ts';
import { retrieve } from '../../src/knowledge-base/retrieve.ts';
import type { Clock } from '../../src/library/clock.ts';
import type { Logger } from '../../src/library/log.ts';
import type { Settings } from '../../src/settings.ts';
import type { Say, TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { liveConversation } from '../../src/voice-agents/settle/live-conversation.ts';
import type { Timers } from '../shared/timers.ts';
import type { CallRecord } from './call-record.ts';
import { keyGapMs, pressedText, pressKey } from './pressed-keys.ts';
import type { RelayFrame } from './relay-frames.ts';
import type { Relay } from './relay.ts';
import type { StoredConversation } from './stored-conversation.ts';

/** An answer that nobody is working at any more, as after a crash that the line outlived, is taken up after this. */
const forgottenAfterMs = 15_000;
const mostLoggedFaults = 20;

export interface TalkParts {
  state: DurableObjectState;
  record: CallRecord;
  store: StoredConversation;
  relay: Relay;
  timers: Timers;
  settings: Settings;
  clock: Clock;
  log: Logger;
  /** Of the call's organization, for what is looked up while somebody talks. */
  context(): Promise<Context>;
  /** Whether the object still has a call. */
  isThere(): boolean;
  /** Told when a chat has ended by itself. Of a call the line decides. */
  chatEnded(): void;
}

/**
 * What is said in a call, and when. Timers: `look` (what a silence or the length of the call leads to), `end` (the goodbye has been spoken),
 * `keys` (no further key was pressed). In a text chat there is no line, and the last two never come.
 */
export class Talk {
  readonly #parts: TalkParts;
  #conversation: Conversation | null = null;
  /** When the `look` timer is due; null: not known in this waking. */
  #lookAt: number | null = null;
  /** Turns that are being answered. */
  #answering = 0;
  /** Of a chat: where its words go at the moment. */
  say: Say | null = null;

  constructor(parts: TalkParts) {
    this.#parts = parts;
  }

  get conversation(): Conversation {
    const { record, store, settings, clock } = this.#parts;
    this.#conversation ??= liveConversation(record.facts, {
      store,
      say: (...spoken) => this.#say(...spoken),
      retrieve: (...asked) => this.#lookUp(...asked),
      settings,
      now: clock,
    });
    return this.#conversation;
  }

  /** Somebody was greeted, or is about to be. */
  get isBegun(): boolean {
    return this.conversation.state !== null;
  }

  /** Not begun, or not ended. */
  get isLive(): boolean {
    const { isStopped, end } = this.#parts.record.line;
    return !isStopped && end === null && (this.conversation.state?.end ?? null) === null;
  }

  #say(...spoken: Parameters<Say>): void {
    if (this.#isChat) this.say?.(...spoken);
    else this.#parts.relay.say(...spoken);
  }

  async #lookUp(query: string, documentUuids: string[] | null, signal: AbortSignal): ReturnType<typeof retrieve> {
    const { context, log } = this.#parts;
    try {
      return await retrieve(await context(), query, documentUuids, signal);
    } catch (error) {
      if (!signal.aborted) log.error('documents could not be looked into', error);
      throw error;
    }
  }

  get #isChat(): boolean {
    return this.#parts.record.facts.mode === 'textchat';
  }

  /** A frame of the session that counts, or the setup of a new one. */
  receive(socket: WebSocket, frame: Exclude<RelayFrame, { type: 'error' }>): void {
    switch (frame.type) {
      case 'setup':
        return this.#setUp(socket, frame.sessionId, frame.callSid);
      case 'prompt':
        return frame.last ? this.#hear(frame.voicePrompt) : this.conversation.notice();
      case 'interrupt':
        this.#parts.relay.cut();
        this.conversation.interrupt(frame.utteranceUntilInterrupt);
        return this.plan();
      case 'dtmf':
        return this.#press(frame.digit);
    }
  }

  /** The first session is greeted; a later one is the same talk on a new line, where what has no answer is answered. */
  #setUp(socket: WebSocket, sessionId: string, callId: string | undefined): void {
    const { relay, store, record, clock } = this.#parts;
    if (callId !== undefined && callId !== (record.line.callId ?? callId)) {
      this.noteFault('callSid: the session is one of another call');
      return relay.refuse(socket);
    }
    if (callId !== undefined && record.line.callId === null) record.change({ callId });
    relay.begin(socket, sessionId);
    const { state } = this.conversation;
    if (!this.isLive) return this.sendEnd();
    store.log(state === null ? 'line_connected' : 'line_reconnected', { session_id: sessionId }, clock());
    this.track(state === null ? this.conversation.start() : this.conversation.resume());
  }

  /** What is said to a goodbye is its answer: the line need not wait for it to be spoken to the end. */
  #hear(said: string): void {
    const { record } = this.#parts;
    const text = pressedText(record.line.keys, said);
    if (record.line.keys !== '') this.#keepKeys('');
    if (!this.isLive) return this.sendEnd();
    this.track(this.conversation.userTurn(text));
  }

  #press(key: string): void {
    const { record, timers, clock } = this.#parts;
    const pressed = pressKey(record.line.keys, key);
    if ('finished' in pressed) {
      this.#keepKeys('');
      return this.#hear(pressedText(pressed.finished));
    }
    this.conversation.notice();
    this.#keepKeys(pressed.pending);
    timers.set('keys', clock() + keyGapMs);
    this.#arm();
  }

  /** No further key was pressed. */
  tellKeys(): void {
    const { keys } = this.#parts.record.line;
    this.#keepKeys('');
    if (keys !== '') this.#hear(pressedText(keys));
  }

  #keepKeys(keys: string): void {
    this.#parts.record.change({ keys });
    if (keys === '') this.#parts.timers.clear('keys');
  }

  /** A frame that cannot be read is noted and changes nothing. */
  noteFault(fault: string): void {
    this.#noteSome('frame_ignored', { fault });
  }

  /** The carrier did not understand a frame of ours, or cannot do its part. The session goes on, or its socket will be closed. */
  noteError(description: string): void {
    this.#noteSome('carrier_error', { description });
  }

  /** The socket of a session was lost, or one that had not begun any. */
  noteLoss(code: number, hadSession: boolean): void {
    const { store, clock } = this.#parts;
    store.log('line_lost', hadSession ? { code } : { code, had_session: false }, clock());
  }

  /** A carrier may send as many of these as it likes. */
  #noteSome(type: string, payload: Record<string, string>): void {
    const { store, clock } = this.#parts;
    if (store.countEvents(type) < mostLoggedFaults) store.log(type, payload, clock());
  }

  /** Sees to what follows from a turn, while it is answered and afterwards. The outcome is null when it failed. */
  track(turn: Promise<TurnOutcome>): Promise<TurnOutcome | null> {
    const { state, log } = this.#parts;
    this.#answering++;
    const followed = turn
      .then((outcome) => {
        this.#follow(outcome);
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
    this.plan();
    return followed;
  }

  #follow({ end, speaksUntil }: TurnOutcome): void {
    const { timers } = this.#parts;
    // The call may have been settled, and the object be gone, while the turn was answered.
    if (!this.#parts.isThere()) return;
    if (end !== null && this.#isChat) this.#parts.chatEnded();
    else if (end !== null) timers.ensure('end', speaksUntil);
    this.plan();
    this.#arm();
  }

  /** Sets the `look` timer when what is due next comes before it. One that comes too early finds nothing and is set anew. */
  plan(): void {
    const { timers, clock } = this.#parts;
    const { nextGuardAt, state } = this.conversation;
    const next = Math.min(nextGuardAt, state?.owesAnswer && !state.end ? clock() + forgottenAfterMs : Infinity);
    if (next >= (this.#lookAt ?? Infinity) || next === Infinity) return;
    this.#lookAt = next;
    timers.set('look', next);
    this.#arm();
  }

  /** Somebody is silent, the time is up, or an answer was forgotten. */
  look(): void {
    const { timers } = this.#parts;
    timers.clear('look');
    this.#lookAt = null;
    const { state } = this.conversation;
    const isForgotten = state?.owesAnswer === true && state.end === null && this.#answering === 0;
    if (isForgotten) this.track(this.conversation.resume());
    else {
      const { action, outcome } = this.conversation.lookAtGuards();
      if (action !== 'none') this.#follow(outcome);
    }
    this.plan();
  }

  /** Ends the talk at once, and the line with it, where there still is one. */
  stop(reason: 'stopped' | 'hung_up' | 'user_idle'): void {
    if (this.conversation.state) this.conversation.end(reason);
    this.sendEnd();
  }

  /** The goodbye has been spoken, or nobody waits for it. */
  sendEnd(): void {
    const { relay, timers, record } = this.#parts;
    timers.clear('end');
    relay.end({ run_id: record.facts.runId, reason: this.conversation.state?.end?.reason ?? 'stopped' });
  }

  #arm(): void {
    const { timers, state, log } = this.#parts;
    state.waitUntil(timers.arm().catch((error: unknown) => log.error('the alarm could not be set', error)));
  }
}
