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
import { cutHistoryToHeard } from './cut-history.ts';
import { findDueAction, nextDueAt, type GuardAction } from './guards.ts';
import { ConversationRecord, type NewEvent, type NewMessage } from './record.ts';
import { getNode, renderLenient, buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import { Turn } from './turn.ts';

export interface ConversationOptions {
  setup: ConversationSetup;
  store: ConversationStore;
  dependencies: ConversationDependencies;
  say: SpeechSink;
}

/**
 * An agent that talks. It lives as long as its object does and keeps everything in the store: another one on the same store goes on where it
 * was. One turn speaks at a time; each of the methods that raise the epoch ends the turn before.
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

  /** Enters the start and greets, or has the model open the talk when there is no greeting. Without `speaksFirst` it waits to be spoken to. */
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

  /** Answers what the other side said. It is written before the model is asked. */
  async userTurn(text: string): Promise<TurnOutcome> {
    const said = text.trim();
    if (!this.#isLive() || said === '') return this.#ignoredOutcome();
    const { closing } = this.#context.record.state;
    this.#supersede(
      // Who goes on talking to a goodbye that the model chose is talked to again; an endCall node is the end.
      { owesAnswer: true, quietSince: null, isIdlePrompted: false, closing: closing === 'end_node' ? closing : null },
      { messages: [{ role: 'user', text: said }], events: [{ type: 'user_said', payload: { text: said } }] },
    );
    return this.#answer();
  }

  /**
   * The other side spoke while the agent did, and heard it up to `heard`. An interrupt that comes before the turn under way has said anything
   * is about what was said before: it cuts that, and the answer still comes.
   */
  interrupt(heard: string): void {
    if (!this.#isLive()) return;
    const { record, dependencies } = this.#context;
    const event: NewEvent = { type: 'interrupted', payload: { heard } };
    if (this.#turn?.isCurrent && !this.#turn.speech.hasSpoken) {
      if (heard.trim() !== '') record.write({}, { ...cutHistoryToHeard(record.messages, '', heard), events: [event] });
      return;
    }
    const cut = cutHistoryToHeard(record.messages, this.#turn?.isCurrent ? this.#turn.speech.utterance : '', heard);
    const change = { epoch: record.state.epoch + 1, owesAnswer: false, quietSince: dependencies.now(), isIdlePrompted: false };
    record.write(change, { ...cut, events: [event] });
    this.#turn?.abort();
  }

  /** The other side makes itself heard, by half a sentence or a key, and has not finished: it is not silent. */
  recordActivity(): void {
    if (!this.#isLive() || this.#context.record.state.quietSince === null) return;
    this.#context.record.write({ quietSince: this.#context.dependencies.now(), isIdlePrompted: false });
  }

  /** After a crash, or on a new line: answers what has no answer yet. */
  async resume(): Promise<TurnOutcome> {
    if (!this.#isLive() || !this.#context.record.state.owesAnswer) return this.#ignoredOutcome();
    this.#context.record.write({ epoch: this.#context.record.state.epoch + 1 }, { events: [{ type: 'resumed' }] });
    this.#turn?.abort();
    return this.#context.record.messages.length === 0 ? this.#startSpeaking() : this.#answer();
  }

  /** The moment at which `applyDueGuard` may have something to do, in epoch ms; Infinity: never. */
  get nextGuardAt(): number {
    return this.#isLive() ? nextDueAt(this.#context.setup.guards, this.#context.record.state) : Infinity;
  }

  /** Asks a silent person whether somebody is there, then says goodbye; ends a call that has lasted too long. */
  applyDueGuard(): { action: GuardAction; outcome: TurnOutcome } {
    const { record, setup, dependencies } = this.#context;
    const action = this.#isLive() ? findDueAction(setup.guards, record.state, dependencies.now()) : 'none';
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

  /** Ends the conversation at once, without a word. The first reason counts. */
  end(reason: EndReason): EndReason {
    const { record, dependencies } = this.#context;
    const { end } = record.state;
    if (end) return end.reason;
    this.#supersede(
      { end: { reason, at: dependencies.now() }, owesAnswer: false, quietSince: null },
      { events: [{ type: 'ended', payload: { reason } }] },
    );
    return reason;
  }

  /** What the talk led to, with the last extraction. To be called when it has ended; a failure that may pass is given back. */
  conclude({ giveUp = false } = {}): Promise<Conclusion | CompletionFailure> {
    this.#conclusion ??= conclude(this.#context, giveUp).finally(() => (this.#conclusion = null));
    return this.#conclusion;
  }

  async #startSpeaking(): Promise<TurnOutcome> {
    if (!(await this.#waitForDelayedStart())) return this.#supersededOutcome();
    const greeting = renderLenient(getNode(this.#context).data.greeting ?? '', buildTemplateScope(this.#context)).trim();
    return greeting === '' ? this.#answer() : this.#speak(greeting);
  }

  /** Waits until the start is to be heard. False: somebody has spoken meanwhile, or it is over. A talk that is read is never held back. */
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

  /** Raises the epoch, keeps what the turn before had said, and ends it. */
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

  /** Says a text of our own, after which it is the other side's turn, or the end. */
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
