import type { Context } from '../../src/context.ts';
import { retrievePassages } from '../../src/knowledge-base/search/retrieve-passages.ts';
import type { Clock } from '../../src/library/time/clock.ts';
import type { Logger } from '../../src/library/platform/log.ts';
import type { Settings } from '../../src/settings.ts';
import type { SpeechSink, TurnOutcome } from '../../src/voice-agents/conversation/contract.ts';
import type { SummaryMessage, SummarySending } from '../../src/voice-agents/conversation/transfer-leg.ts';
import type { Conversation } from '../../src/voice-agents/conversation/conversation.ts';
import { sendTransferSummary } from '../../src/calls/live-call/send-transfer-summary.ts';
import { createConversation } from '../../src/calls/live-call/create-conversation.ts';
import type { Timers } from '../shared/timers.ts';
import { callTimers, type CallRecord } from './call-record.ts';
import { addPressedKey, formatPressedKeys, keyGapMs, type RelayFrame } from './relay-frames.ts';
import type { RelaySockets } from './relay-sockets.ts';
import type { StoredConversation } from './stored-conversation.ts';

/** After this time an unfinished answer that no turn works on is resumed. A crash that the line outlives leaves such an answer. */
const resumeAfterMs = 15_000;
const maxLoggedFaults = 20;
/** The guard timer is set this much too early, if there is time, since what is said next often makes it due earlier. */
const guardSlackMs = 5000;

export interface LiveConversationOptions {
  state: DurableObjectState;
  record: CallRecord;
  store: StoredConversation;
  relay: RelaySockets;
  timers: Timers;
  settings: Settings;
  clock: Clock;
  log: Logger;
  /** The context of the call's organization, for searches during the conversation. */
  context(): Promise<Context>;
  /** Whether the object still has a call. */
  hasCall(): boolean;
  /** Whether words of the other side are answered: those of a machine are not. */
  isAnswered(text: string): boolean;
  /** Called when a chat has ended by itself. A call ends with its line. */
  onChatEnded(): void;
}

/**
 * The live conversation of a call or chat: applies the carrier's frames and timers, and speaks the agent's words. Timers: `guard` (a
 * silence, or the length of the call), `endSession` (the goodbye has been spoken), `keys` (no further key was pressed). A text chat has no
 * line, and uses only `guard`.
 */
export class LiveConversation {
  readonly #parts: LiveConversationOptions;
  #conversation: Conversation | null = null;
  /** When the guard timer is due, epoch ms; null: unknown since the object started. */
  #guardTimerAt: number | null = null;
  /** Ends the session when the goodbye has been spoken; null: no goodbye is being spoken. */
  #endTimeout: ReturnType<typeof setTimeout> | null = null;
  #isArming = false;
  /** How many turns are being answered. */
  #answering = 0;
  /** The receiver of a chat's words; null: none at present. */
  chatSink: SpeechSink | null = null;

  constructor(parts: LiveConversationOptions) {
    this.#parts = parts;
  }

  get conversation(): Conversation {
    const { record, store, settings, clock } = this.#parts;
    this.#conversation ??= createConversation(record.setup, {
      store,
      say: (...spoken) => this.#speak(...spoken),
      retrieve: (...search) => this.#searchDocuments(...search),
      sendSummary: (message) => this.#sendSummary(message),
      settings,
      now: clock,
    });
    return this.#conversation;
  }

  /** Whether the agent has greeted, or is about to. */
  get hasStarted(): boolean {
    return this.conversation.state !== null;
  }

  /** Whether the conversation has not ended; it may not have begun. */
  get isLive(): boolean {
    const { isStopped, end, verdict } = this.#parts.record.line;
    const isMachine = verdict === 'waiting' || verdict === 'left';
    return !isStopped && !isMachine && end === null && (this.conversation.state?.end ?? null) === null;
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
      if (!signal.aborted) log.error('documents could not be searched', error);
      throw error;
    }
  }

  async #sendSummary(message: SummaryMessage): Promise<SummarySending> {
    const { context, log } = this.#parts;
    try {
      return await sendTransferSummary(await context(), message);
    } catch (error) {
      log.error('the summary for a human could not be sent', error);
      return { problem: 'the service failed; the log of messages tells whether it was sent' };
    }
  }

  get #isChat(): boolean {
    return this.#parts.record.setup.mode === 'textchat';
  }

  /** Handles a frame of the current session, or the setup of a new session. */
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

  /** Starts a session. The agent greets in the first one. In a later one the conversation goes on: an unfinished answer is resumed. */
  #startSession(socket: WebSocket, sessionId: string, callId: string | undefined): void {
    const { relay, store, record, clock } = this.#parts;
    if (callId !== undefined && callId !== (record.line.callId ?? callId)) {
      this.logFrameFault('callSid: the session is one of another call');
      return relay.refuse(socket);
    }
    if (callId !== undefined && record.line.callId === null) record.updateLine({ callId });
    relay.startSession(socket, sessionId);
    const { state } = this.conversation;
    // The greeting of a machine is awaited.
    if (record.line.verdict === 'waiting') return;
    if (!this.isLive) return this.endRelaySession();
    store.logWithNext(state === null ? 'line_connected' : 'line_reconnected', { session_id: sessionId }, clock());
    void this.trackTurn(state === null ? this.conversation.start() : this.conversation.resume()).finally(() => {
      if (this.#parts.hasCall()) store.flush();
    });
  }

  /** Handles what the person said. After a goodbye it ends the session: the rest of the goodbye need not be spoken. */
  #handleSpeech(said: string): void {
    const { record } = this.#parts;
    const text = formatPressedKeys(record.line.keys, said);
    if (record.line.keys !== '') this.#saveKeys('');
    if (!this.#parts.isAnswered(text)) return;
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
    timers.set(callTimers.keys, clock() + keyGapMs);
    this.#arm();
  }

  /** Takes the pressed keys as complete, since no further key came. */
  flushKeys(): void {
    const { keys } = this.#parts.record.line;
    this.#saveKeys('');
    if (keys !== '') this.#handleSpeech(formatPressedKeys(keys));
  }

  #saveKeys(keys: string): void {
    this.#parts.record.updateLine({ keys });
    if (keys === '') this.#parts.timers.clear(callTimers.keys);
  }

  /** Logs a frame that cannot be read, and ignores it. */
  logFrameFault(fault: string): void {
    this.#logBounded('frame_ignored', { fault });
  }

  /** Logs that the carrier did not understand a frame of ours, or failed. The session goes on, or the carrier closes its socket. */
  logCarrierError(description: string): void {
    this.#logBounded('carrier_error', { description });
  }

  /** Logs the loss of a socket, with or without a session. */
  logSocketLoss(code: number, hadSession: boolean): void {
    const { store, clock } = this.#parts;
    store.log('line_lost', hadSession ? { code } : { code, had_session: false }, clock());
  }

  /** Bounds the log, since a carrier may send any number of faulty frames. */
  #logBounded(type: string, payload: Record<string, string>): void {
    const { store, clock } = this.#parts;
    if (store.countEvents(type) < maxLoggedFaults) store.log(type, payload, clock());
  }

  /** Waits for a turn and does what follows from it. The outcome is null when the turn failed. */
  trackTurn(turn: Promise<TurnOutcome>): Promise<TurnOutcome | null> {
    const { state, log } = this.#parts;
    this.#answering++;
    const tracked = turn
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
    state.waitUntil(tracked);
    this.scheduleGuard();
    return tracked;
  }

  #afterTurn({ end, speaksUntil }: TurnOutcome): void {
    // The call may have been finalized, and the object deleted, during the turn.
    if (!this.#parts.hasCall()) return;
    if (end !== null && this.#isChat) this.#parts.onChatEnded();
    else if (end !== null || this.#isHandingOver) this.#endSessionAt(speaksUntil);
    this.scheduleGuard();
    this.#arm();
  }

  /** Whether the announcement was said, and the carrier has not been told to dial the human. */
  get #isHandingOver(): boolean {
    return this.conversation.handedOverLeg?.dialedAt === null;
  }

  /** Ends the session at an epoch ms. If the object dies before, the guard timer ends it. */
  #endSessionAt(moment: number): void {
    const { timers, clock, hasCall } = this.#parts;
    if (this.#endTimeout !== null) return;
    if (this.#guardTimerAt === null) timers.set(callTimers.guard, (this.#guardTimerAt = moment + guardSlackMs));
    this.#endTimeout = setTimeout(
      () => {
        this.#endTimeout = null;
        if (hasCall()) this.endRelaySession();
      },
      Math.max(0, moment - clock()),
    );
  }

  /** Ends the session of a conversation that is over, unless its goodbye is still being spoken. */
  #guardEnd(): void {
    const { timers, clock } = this.#parts;
    if (this.#endTimeout === null) return this.endRelaySession();
    this.#guardTimerAt = clock() + guardSlackMs;
    timers.set(callTimers.guard, this.#guardTimerAt);
  }

  /** Sets the guard timer if the next guard is due earlier. A timer that fires too early finds nothing due and is set again. */
  scheduleGuard(): void {
    const { timers, clock } = this.#parts;
    const { nextGuardAt, state } = this.conversation;
    const next = Math.min(nextGuardAt, state?.owesAnswer && !state.end ? clock() + resumeAfterMs : Infinity);
    if (next >= (this.#guardTimerAt ?? Infinity) || next === Infinity) return;
    this.#guardTimerAt = next - clock() > 2 * guardSlackMs ? next - guardSlackMs : next;
    timers.set(callTimers.guard, this.#guardTimerAt);
    this.#arm();
  }

  /** Acts on a long silence, the end of the call's time, or an unfinished answer that no turn works on. */
  applyGuards(): void {
    const { timers } = this.#parts;
    timers.clear(callTimers.guard);
    this.#guardTimerAt = null;
    const { state } = this.conversation;
    // A machine hears the message after its greeting.
    if (['waiting', 'left'].includes(this.#parts.record.line.verdict ?? '')) return;
    const isAnswerAbandoned = state?.owesAnswer === true && state.end === null && this.#answering === 0;
    if ((state !== null && state.end !== null) || this.#isHandingOver) this.#guardEnd();
    else if (isAnswerAbandoned) this.trackTurn(this.conversation.resume());
    else {
      const { action, outcome } = this.conversation.applyDueGuard();
      if (action !== 'none') this.#afterTurn(outcome);
    }
    this.scheduleGuard();
  }

  /** Ends the conversation at once, and the line if it is still there. */
  stop(reason: 'stopped' | 'hung_up' | 'user_idle'): void {
    if (this.conversation.state) this.conversation.end(reason);
    this.endRelaySession();
  }

  /** Ends the relay session after the goodbye, or when no goodbye is needed. */
  endRelaySession(): void {
    const { relay, timers, record } = this.#parts;
    if (this.#endTimeout !== null) clearTimeout(this.#endTimeout);
    this.#endTimeout = null;
    // Of earlier versions.
    timers.clear(callTimers.endSession);
    relay.endSession({
      run_id: record.setup.runId,
      reason: this.conversation.state?.end?.reason ?? (this.#isHandingOver ? 'transfer' : 'stopped'),
    });
  }

  /** Sets the alarm, once for all that is set meanwhile. */
  #arm(): void {
    if (this.#isArming) return;
    this.#isArming = true;
    const { timers, state, log, hasCall } = this.#parts;
    const armed = Promise.resolve()
      .then(() => {
        this.#isArming = false;
        return hasCall() ? timers.arm() : undefined;
      })
      .catch((error: unknown) => log.error('the alarm could not be set', error));
    state.waitUntil(armed);
  }
}
