import type { CompletionFailure, ConversationDelta, ToolCall } from '../../providers/language-model/contract.ts';
import type { ConversationState, TurnOutcome } from './contract.ts';
import { findLastToolCallMessage, findOpenToolCalls, countToolRounds } from './model-messages.ts';
import { listToolOffers, type ToolOffer } from './tool-offers.ts';
import { runToolCalls } from './run-tool-calls.ts';
import { countUsage, toFallbackEvent, type NewEvent, type NewMessage } from './record.ts';
import { buildModelRequest } from './model-request.ts';
import type { ConversationContext } from './conversation-context.ts';
import { SpeechOutput } from './speech-output.ts';
import { prepareTransfer } from './request-transfer.ts';
import { activeLeg } from './transfer-leg.ts';

const maxToolRounds = 8;
const retryMs = 300;
/** The person does not wait longer. */
const maxRetryMs = 2_000;

interface ToolCallBatch {
  calls: ToolCall[];
  offers: ToolOffer[];
  hasSpoken: boolean;
}

/** The result of one request to the model. */
type ModelAnswer =
  | { kind: 'superseded' }
  | { kind: 'finished' }
  | { kind: 'empty' }
  | ({ kind: 'calls' } & ToolCallBatch)
  | { kind: 'failed'; failure: CompletionFailure; hasSpoken: boolean };

/** One answer of the agent: asks the model, runs the tools that it calls, and repeats this until the agent has spoken and no call is left. */
export class Turn {
  readonly speech: SpeechOutput;
  readonly #context: ConversationContext;
  readonly #epoch: number;
  readonly #controller = new AbortController();

  constructor(context: ConversationContext) {
    this.#context = context;
    this.#epoch = context.record.state.epoch;
    this.speech = new SpeechOutput(context);
  }

  /** Whether this is the newest turn; an older one says and decides nothing. */
  get isCurrent(): boolean {
    return this.#context.record.state.epoch === this.#epoch;
  }

  /** Aborts the request to the model. The caller has raised the epoch. */
  abort(): void {
    this.#controller.abort();
  }

  async answer(): Promise<TurnOutcome['status']> {
    let hasFailed = false;
    let wasCutOff = false;
    const open = this.#findOpenToolCalls();
    // After a crash: the transfer was announced, and is not ready.
    if (activeLeg(this.#context.record.state.transfers)?.isReady === false) await prepareTransfer(this.#context);
    if (this.#hasSaidGoodbye() || (open && (await this.#runToolCalls(open, true)))) return this.#finish();
    while (this.isCurrent) {
      const handedOver = this.#finishTransfer();
      if (handedOver) return handedOver;
      const asked = await this.#askModel(wasCutOff);
      wasCutOff = false;
      if (asked.kind === 'finished') return 'answered';
      // The other side may have spoken while the stream was closed.
      if (!this.isCurrent) break;
      if (asked.kind === 'calls' && (await this.#runToolCalls(asked, false))) return this.#finish();
      if (asked.kind !== 'failed' && asked.kind !== 'empty') continue;
      const isHopeless = asked.kind === 'failed' && !asked.failure.retryable;
      if (hasFailed || isHopeless) return asked.kind === 'failed' ? this.#giveUp(asked.failure) : this.#fillSilence();
      hasFailed = true;
      wasCutOff = asked.kind === 'failed' && asked.hasSpoken;
      if (asked.kind === 'failed') await this.#context.dependencies.sleep(retryDelayMs(asked.failure));
    }
    return 'superseded';
  }

  /** Tool calls without an answer, after a crash. */
  #findOpenToolCalls(): ToolCallBatch | null {
    const open = findOpenToolCalls(this.#context.record.messages);
    return open && { calls: open.calls, offers: listToolOffers(this.#context), hasSpoken: open.message.text !== '' };
  }

  /** Whether a crash came between a goodbye, said together with end_call, and the end of the conversation. */
  #hasSaidGoodbye(): boolean {
    const { state, messages } = this.#context.record;
    return state.closing === 'end_call' && (findLastToolCallMessage(messages)?.text ?? '') !== '';
  }

  /** Runs tool calls. True: the turn is finished, because the model said goodbye together with end_call. */
  async #runToolCalls(called: ToolCallBatch, isRepeated: boolean): Promise<boolean> {
    await runToolCalls(this.#context, this, called, isRepeated);
    return this.isCurrent && called.hasSpoken && this.#context.record.state.closing === 'end_call';
  }

  /** Ends the turn of a transfer, or says that nobody took the call. Null: the turn goes on. */
  #finishTransfer(): TurnOutcome['status'] | null {
    const { record } = this.#context;
    const { transfers, notice, closing } = record.state;
    if (activeLeg(transfers)) {
      record.write({ owesAnswer: false, quietSince: null });
      return 'answered';
    }
    if (closing === 'transferred') return this.#finish();
    if (notice == null) return null;
    if (closing !== 'end_node') return this.#finish(notice, { notice: null });
    this.speech.speak(notice);
    record.write({ notice: null }, { messages: [{ role: 'assistant', text: notice }], events: [toSaidEvent(notice)] });
    return null;
  }

  async #askModel(wasCutOff: boolean): Promise<ModelAnswer> {
    const { record, dependencies } = this.#context;
    const offers = listToolOffers(this.#context);
    const mustSpeak = record.state.closing !== null || countToolRounds(record.messages) >= maxToolRounds;
    const request = buildModelRequest(this.#context, offers, { mustSpeak, wasCutOff });
    const askedAt = dependencies.now();
    let firstWordMs: number | null = null;
    for await (const delta of catchAdapterErrors(dependencies.model.converse(request, this.#controller.signal))) {
      if (!this.isCurrent) return { kind: 'superseded' };
      if (delta.type === 'text') {
        firstWordMs ??= dependencies.now() - askedAt;
        this.speech.append(delta.text);
      } else if (delta.type === 'fallback') record.write({}, { events: [toFallbackEvent(delta)] });
      else if (delta.type === 'failure') return this.#recordFailure(delta);
      else return this.#recordAnswer(delta, offers, mustSpeak, { first_word_ms: firstWordMs, duration_ms: dependencies.now() - askedAt });
    }
    if (!this.isCurrent) return { kind: 'superseded' };
    return this.#recordFailure({ failure: 'provider_failed', message: 'The language model ended without an end', retryable: true });
  }

  /** Stores the model's text and tool calls, and the end of the turn in the same write when there is no call. */
  #recordAnswer(
    delta: Extract<ConversationDelta, { type: 'end' }>,
    offers: ToolOffer[],
    mustSpeak: boolean,
    took: Record<string, number | null>,
  ): ModelAnswer {
    const { record } = this.#context;
    const { tool_calls: asked, usage, model } = delta;
    const text = this.speech.finishUtterance();
    const calls = mustSpeak
      ? []
      : asked.map(({ name, arguments: json }, index) => ({ id: `call_${record.state.nextMessageId}_${index}`, name, arguments: json }));
    const isFinished = text !== '' && calls.length === 0;
    const answered = { model, ...usage, ...took, tool_calls: calls.map(({ name }) => name) };
    const message: NewMessage = { role: 'assistant', text, ...(calls.length > 0 && { toolCalls: calls }) };
    const end = isFinished ? this.#endOfTurn() : { change: {}, events: [] };
    record.write(
      { ...countUsage(record.state, delta), ...end.change },
      {
        messages: text !== '' || calls.length > 0 ? [message] : [],
        events: [{ type: 'model_answered', payload: answered }, ...(text === '' ? [] : [toSaidEvent(text)]), ...end.events],
      },
    );
    if (isFinished) return { kind: 'finished' };
    return calls.length > 0 ? { kind: 'calls', calls, offers, hasSpoken: text !== '' } : { kind: 'empty' };
  }

  /** Stores the failure and the text before it, which was spoken. */
  #recordFailure({ failure, message, retryable, retry_after_seconds: seconds }: CompletionFailure): ModelAnswer {
    const text = this.speech.finishUtterance();
    this.#context.record.write(
      {},
      {
        messages: text === '' ? [] : [{ role: 'assistant', text, isCut: true }],
        events: [...(text === '' ? [] : [toSaidEvent(text)]), { type: 'model_failed', payload: { failure, message } }],
      },
    );
    const reported = { failure, message, retryable, ...(seconds !== undefined && { retry_after_seconds: seconds }) };
    return { kind: 'failed', failure: reported, hasSpoken: text !== '' };
  }

  #giveUp({ failure }: CompletionFailure): TurnOutcome['status'] {
    const { record, setup } = this.#context;
    if (record.state.closing !== null) return this.#finish(setup.phrases.goodbye);
    if (failure === 'content_filter' || failure === 'refused') return this.#finish(setup.phrases.cannot_say);
    return this.#finish(setup.phrases.apology, { closing: 'error' });
  }

  /** Says a phrase after the model has answered twice with nothing. */
  #fillSilence(): TurnOutcome['status'] {
    const { record, setup } = this.#context;
    if (record.state.closing !== null) return this.#finish(setup.phrases.goodbye);
    if (this.speech.said.length > 0) return this.#finish();
    return this.#finish(setup.phrases.please_repeat, {}, { fillsSilence: true });
  }

  #finish(phrase?: string, more: Partial<ConversationState> = {}, kind: Pick<NewMessage, 'fillsSilence'> = {}): TurnOutcome['status'] {
    if (phrase !== undefined) this.speech.speak(phrase);
    const { change, events } = this.#endOfTurn(more.closing);
    const messages: NewMessage[] = phrase === undefined ? [] : [{ role: 'assistant', text: phrase, ...kind }];
    this.#context.record.write(
      { ...more, ...change },
      { messages, events: [...(phrase === undefined ? [] : [toSaidEvent(phrase)]), ...events] },
    );
    return 'answered';
  }

  /** Gives the turn to the person, or ends the conversation. */
  #endOfTurn(closing = this.#context.record.state.closing): { change: Partial<ConversationState>; events: NewEvent[] } {
    const { record, dependencies } = this.#context;
    const { end } = record.state;
    if (closing === null) return { change: { owesAnswer: false, quietSince: this.speech.speaksUntil }, events: [] };
    return {
      change: { owesAnswer: false, quietSince: null, end: end ?? { reason: closing, at: dependencies.now() } },
      events: [{ type: 'ended', payload: { reason: closing } }],
    };
  }

  /** Says a fixed text and finishes the turn. */
  speakText(text: string, change: Partial<ConversationState> = {}): TurnOutcome['status'] {
    return this.#finish(text, change);
  }
}

const toSaidEvent = (text: string): NewEvent => ({ type: 'agent_said', payload: { text } });

const retryDelayMs = ({ retry_after_seconds: seconds }: CompletionFailure): number =>
  Math.min(seconds === undefined ? retryMs : seconds * 1000, maxRetryMs);

/** Reports a defect of the adapter as a failure: a person is waiting on the line. */
async function* catchAdapterErrors(deltas: AsyncIterable<ConversationDelta>): AsyncGenerator<ConversationDelta> {
  try {
    yield* deltas;
  } catch (error) {
    yield { type: 'failure', failure: 'provider_failed', message: `The adapter failed: ${(error as Error).name}`, retryable: true };
  }
}
