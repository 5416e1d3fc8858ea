import type { CompletionFailure } from '../../providers/language-model/contract.ts';
import { conclude } from './conclude.ts';
import type {
  Conclusion,
  ConversationSetup,
  ConversationState,
  ConversationStore,
  EndReason,
  SpeechSink,
  ConversationDependencies,
  TurnOutcome,
} from './contract.ts';
import { cutHistoryAtInterrupt } from './cut-history.ts';
import { findDueAction, nextDueAt, type GuardAction } from './guards.ts';
import { ConversationRecord, type NewEvent, type NewMessage } from './record.ts';
import { getNode, renderLenient, buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import { findTransfer } from '../definition/definition.ts';
import type { TransferSettings } from '../definition/transfer-settings.ts';
import { planAfterFailure } from './request-transfer.ts';
import { sendSummary } from './send-summary.ts';
import { activeLeg, afterLegFact, wasBridged, type LegFact, type TransferLeg } from './transfer-leg.ts';
import { replaceLeg, toSending, toTransferEvent } from './transfer-state.ts';
import { Turn } from './turn.ts';

export interface ConversationOptions {
  setup: ConversationSetup;
  store: ConversationStore;
  dependencies: ConversationDependencies;
  say: SpeechSink;
}

/**
 * The engine of a talk between an agent and a person. All state is in the store: a new instance on the same store continues the conversation. One
 * turn speaks at a time; each method that raises the epoch ends the current turn.
 */
export class Conversation {
  readonly #context: ConversationContext;
  #turn: Turn | null = null;
  #conclusion: Promise<Conclusion | CompletionFailure> | null = null;

  constructor({ setup, store, dependencies, say }: ConversationOptions) {
    const record = new ConversationRecord(store, () => dependencies.now());
    this.#context = { setup, record, dependencies: dependencies, say, inFlight: new Map(), background: new Set() };
  }

  /** Null before `start`. */
  get state(): ConversationState | null {
    return this.#context.record.isStarted ? this.#context.record.state : null;
  }

  /**
   * Enters the start node. The agent says the greeting, or the model opens the talk where there is none. With `speaksFirst` false the agent waits
   * for the person.
   */
  async start({ speaksFirst = true } = {}): Promise<TurnOutcome> {
    const { record, setup, dependencies } = this.#context;
    if (record.isStarted) return this.#ignoredOutcome();
    const nodeId = setup.definition.startNodeId;
    const now = dependencies.now();
    const state: ConversationState = {
      nodeId,
      epoch: 1,
      owesAnswer: speaksFirst,
      closing: null,
      end: null,
      nodesVisited: [nodeId],
      extracted: {},
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      nextMessageId: 1,
      startedAt: now,
      quietSince: speaksFirst ? null : now,
      isIdlePrompted: false,
      conclusion: null,
    };
    record.begin(state, { events: [{ type: 'started' }, { type: 'node_entered' }] });
    return speaksFirst ? this.#startSpeaking() : this.#ignoredOutcome();
  }

  /** Stores what the person said, then answers it. */
  async userTurn(text: string): Promise<TurnOutcome> {
    const said = text.trim();
    if (!this.#isLive() || said === '') return this.#ignoredOutcome();
    if (this.#activeLeg) {
      // The caller is being connected: their words are kept, and nobody answers them.
      this.#context.record.write(
        {},
        { messages: [{ role: 'user', text: said }], events: [{ type: 'user_said', payload: { text: said } }] },
      );
      return this.#ignoredOutcome();
    }
    const { closing } = this.#context.record.state;
    this.#supersede(
      // A person who talks on after a goodbye that the model chose is answered; an endCall node ends the conversation.
      { owesAnswer: true, quietSince: null, isIdlePrompted: false, closing: closing === 'end_node' ? closing : null },
      { messages: [{ role: 'user', text: said }], events: [{ type: 'user_said', payload: { text: said } }] },
    );
    return this.#answer();
  }

  /**
   * The person spoke over the agent; `spokenText` is what the carrier had spoken by then. The history is cut to it, and the turn ends. An interrupt
   * before the first word of a turn is about the previous utterances: it cuts those, and the turn goes on.
   */
  interrupt(spokenText: string): void {
    if (!this.#isLive()) return;
    const { record, dependencies } = this.#context;
    const event: NewEvent = { type: 'interrupted', payload: { heard: spokenText } };
    if (this.#turn?.isCurrent && !this.#turn.speech.hasSpoken) {
      if (spokenText.trim() !== '') record.write({}, { ...cutHistoryAtInterrupt(record.messages, '', spokenText), events: [event] });
      return;
    }
    if (this.#activeLeg) return record.write({}, { events: [event] });
    const cut = cutHistoryAtInterrupt(record.messages, this.#turn?.isCurrent ? this.#turn.speech.utterance : '', spokenText);
    const change = { epoch: record.state.epoch + 1, owesAnswer: false, quietSince: dependencies.now(), isIdlePrompted: false };
    record.write(change, { ...cut, events: [event] });
    this.#turn?.abort();
  }

  /** Notes half a sentence or a key of the person: the silence begins anew. */
  recordActivity(): void {
    if (!this.#isLive() || this.#context.record.state.quietSince === null) return;
    this.#context.record.write({ quietSince: this.#context.dependencies.now(), isIdlePrompted: false });
  }

  /** Answers what has no answer yet, after a crash or on a new line. */
  async resume(): Promise<TurnOutcome> {
    if (!this.#isLive() || !this.#context.record.state.owesAnswer) return this.#ignoredOutcome();
    this.#context.record.write({ epoch: this.#context.record.state.epoch + 1 }, { events: [{ type: 'resumed' }] });
    this.#turn?.abort();
    return this.#context.record.messages.length === 0 ? this.#startSpeaking() : this.#answer();
  }

  get #activeLeg(): TransferLeg | undefined {
    return this.#isLive() ? activeLeg(this.#context.record.state.transfers) : undefined;
  }

  /** The human who is to be dialled, is being dialled, or has the caller; undefined: the agent has the caller, or still prepares. */
  get handedOverLeg(): TransferLeg | undefined {
    const leg = this.#activeLeg;
    return leg?.isReady && !this.#context.record.state.owesAnswer ? leg : undefined;
  }

  /** Records that the carrier is about to be told to dial the human. Repeatable. */
  markDialed(number: number): void {
    const { record, dependencies } = this.#context;
    const leg = this.#activeLeg;
    if (leg?.number !== number || leg.dialedAt !== null) return;
    const dialed = { ...leg, dialedAt: dependencies.now() };
    record.write(replaceLeg(record.state, dialed), { events: [toTransferEvent('transfer_dialed', dialed)] });
  }

  /**
   * Records a report on the line of a human. When nobody has taken the call, the fallback is the next leg or, without one, the agent has to
   * speak again; when the human has hung up, the conversation has ended. Repeatable; late reports only complete the record.
   */
  recordLegFact(number: number, report: LegFact): void {
    const { record, setup } = this.#context;
    if (!record.isStarted) return;
    const before = record.state.transfers?.find((leg) => leg.number === number);
    if (!before) return;
    const leg = afterLegFact(before, report);
    const news = Object.keys(leg.facts).some((name) => !Object.hasOwn(before.facts, name));
    if (!news) return;
    if (before.isSettled || record.state.end !== null || leg.facts.ended === undefined) {
      const event = toTransferEvent(`transfer_${report.fact}`, leg);
      return record.write(replaceLeg(record.state, leg), { events: [event] });
    }
    const settled = { ...leg, isSettled: true };
    if (wasBridged(settled)) {
      record.write(replaceLeg(record.state, settled), { events: [toTransferEvent('transfer_ended', settled)] });
      this.end('transferred');
      return;
    }
    const failed = toTransferEvent('transfer_failed', settled);
    const settings = findTransfer(setup.definition, leg.nodeId, leg.tool);
    if (settings?.fallback_to && !leg.isFallback) {
      const { transfers = [] } = replaceLeg(record.state, settled);
      record.write({ transfers: [...transfers, this.#toFallbackLeg(settled, settings, settings.fallback_to)] }, { events: [failed] });
      return;
    }
    const { change, events, replaced } = planAfterFailure(this.#context, settled);
    record.write({ ...change, ...replaceLeg(record.state, settled) }, { events: [failed, ...events], replaced });
  }

  #toFallbackLeg(failed: TransferLeg, settings: TransferSettings, to: string): TransferLeg {
    const requestedAt = this.#context.dependencies.now();
    const next = { ...failed, number: failed.number + 1, to, isFallback: true, requestedAt, dialedAt: null, facts: {}, isSettled: false };
    if (failed.sending === undefined) return next;
    const sending = toSending(settings, to);
    // A number that has the summary does not get it again.
    return { ...next, sending: sending && sending.to !== failed.sending.to ? sending : failed.sending };
  }

  /** Sends the summary for a human who is about to be dialled, unless it was sent or is said. Repeatable; never throws. */
  sendSummary(number: number): Promise<void> {
    return sendSummary(this.#context, number);
  }

  /** Epoch ms of the next moment at which `applyDueGuard` may have to act; Infinity: never. */
  get nextGuardAt(): number {
    return this.#isLive() && !this.#activeLeg ? nextDueAt(this.#context.setup.guards, this.#context.record.state) : Infinity;
  }

  /** Asks a silent person whether anybody is there, and says goodbye after the second silence; ends a call that has lasted too long. */
  applyDueGuard(): { action: GuardAction; outcome: TurnOutcome } {
    const { record, setup, dependencies } = this.#context;
    const action = this.#isLive() && !this.#activeLeg ? findDueAction(setup.guards, record.state, dependencies.now()) : 'none';
    if (action === 'none') return { action, outcome: this.#ignoredOutcome() };
    const { closing } = record.state;
    if (closing !== null && action !== 'end_duration') {
      // The goodbye was interrupted, and then nothing was said.
      this.end(closing);
      return { action: 'end_idle', outcome: this.#ignoredOutcome() };
    }
    if (action === 'prompt') return { action, outcome: this.#speak(setup.phrases.are_you_there, { isIdlePrompted: true }) };
    const [phrase, reason] =
      action === 'end_idle'
        ? ([setup.phrases.idle_goodbye, 'user_idle'] as const)
        : ([setup.phrases.time_is_up, 'max_call_duration'] as const);
    this.#supersede({ closing: closing ?? reason });
    return { action, outcome: this.#speak(phrase) };
  }

  /** Ends the conversation at once, without a word. Returns the first reason for which it ended. */
  end(reason: EndReason): EndReason {
    const { record, dependencies } = this.#context;
    const { end, transfers } = record.state;
    if (end) return end.reason;
    const leg = transfers?.at(-1);
    const known = reason === 'hung_up' && leg && wasBridged(leg) ? 'transferred' : reason;
    this.#supersede(
      { end: { reason: known, at: dependencies.now() }, owesAnswer: false, quietSince: null },
      { events: [{ type: 'ended', payload: { reason: known } }] },
    );
    return known;
  }

  /** The result of the conversation, with a last extraction. Call it after the end. Returns a retryable failure unless `exhaustFailedMessages`. */
  conclude({ giveUp = false } = {}): Promise<Conclusion | CompletionFailure> {
    this.#conclusion ??= conclude(this.#context, giveUp).finally(() => (this.#conclusion = null));
    return this.#conclusion;
  }

  async #startSpeaking(): Promise<TurnOutcome> {
    if (!(await this.#waitForDelayedStart())) return this.#supersededOutcome();
    const greeting = renderLenient(getNode(this.#context).data.greeting ?? '', buildTemplateScope(this.#context)).trim();
    return greeting === '' ? this.#answer() : this.#speak(greeting);
  }

  /** Waits for the node's `delayed_start`; a conversation that is read has none. False: the epoch has changed meanwhile. */
  async #waitForDelayedStart(): Promise<boolean> {
    const { setup, record, dependencies } = this.#context;
    const { delayed_start: isDelayed, delayed_start_duration: seconds = 0 } = getNode(this.#context).data;
    if (!isDelayed || setup.millisecondsPerCharacter === 0) return true;
    const { epoch, startedAt } = record.state;
    await dependencies.sleep(Math.max(0, startedAt + seconds * 1000 - dependencies.now()));
    return record.state.epoch === epoch;
  }

  #isLive(): boolean {
    return this.#context.record.isStarted && this.#context.record.state.end === null;
  }

  /** Raises the epoch, stores what the current turn has said so far, and ends that turn. */
  #supersede(
    change: Partial<ConversationState>,
    { messages = [], events = [] }: { messages?: NewMessage[]; events?: NewEvent[] } = {},
  ): void {
    const { record } = this.#context;
    const before = this.#turn?.isCurrent ? this.#turn.speech.finishUtterance() : '';
    const cut: NewMessage[] = before === '' ? [] : [{ role: 'assistant', text: before, isCut: true }];
    record.write({ epoch: record.state.epoch + 1, ...change }, { messages: [...cut, ...messages], events });
    this.#turn?.abort();
  }

  async #answer(): Promise<TurnOutcome> {
    const turn = new Turn(this.#context);
    this.#turn = turn;
    try {
      return this.#toOutcome(await turn.answer(), turn);
    } finally {
      if (this.#turn === turn) this.#turn = null;
    }
  }

  /** Says a fixed text. Afterwards the person has the turn, or the conversation is over. */
  #speak(text: string, change: Partial<ConversationState> = {}): TurnOutcome {
    const turn = new Turn(this.#context);
    return this.#toOutcome(turn.speakText(text, change), turn);
  }

  #toOutcome(status: TurnOutcome['status'], { speech }: Turn): TurnOutcome {
    return { status, said: speech.said, speaksUntil: speech.speaksUntil, end: this.#context.record.state.end?.reason ?? null };
  }

  #supersededOutcome(): TurnOutcome {
    return { ...this.#ignoredOutcome(), status: 'superseded' };
  }

  #ignoredOutcome(): TurnOutcome {
    const { record, dependencies } = this.#context;
    return {
      status: 'ignored',
      said: [],
      speaksUntil: dependencies.now(),
      end: record.isStarted ? (record.state.end?.reason ?? null) : null,
    };
  }
}
