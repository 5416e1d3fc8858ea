import type { CompletionFailure, ConversationDelta, ToolCall } from '../../providers/language-model/contract.ts';
import type { ConversationState, TurnOutcome } from './contract.ts';
import { findLastToolCallMessage, findOpenToolCalls, countToolRounds } from './model-messages.ts';
import { listToolOffers, type ToolOffer } from './tool-offers.ts';
import { runToolCalls } from './run-tool-calls.ts';
import { addUsage, type NewEvent, type NewMessage } from './record.ts';
import { buildModelRequest } from './model-request.ts';
import type { ConversationContext } from './conversation-context.ts';
import { SpeechOutput } from './speech-output.ts';

const maxToolRounds = 8;
const retryMs = 300;
/** Nobody listens to a longer silence. */
const maxRetryMs = 2_000;

interface ToolCallBatch {
  calls: ToolCall[];
  offers: ToolOffer[];
  hasSpoken: boolean;
}

/** What one question to the model led to. */
type ModelAnswer =
  | { kind: 'superseded' }
  | { kind: 'finished' }
  | { kind: 'empty' }
  | ({ kind: 'calls' } & ToolCallBatch)
  | { kind: 'failed'; failure: CompletionFailure; hasSpoken: boolean };

/** The agent's answer: it asks the model, does what the model asks for, and goes on until something was said and nothing is left to do. */
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

  /** Whether nothing has come after this turn: only then may it say or decide anything. */
  get isCurrent(): boolean {
    return this.#context.record.state.epoch === this.#epoch;
  }

  /** Ends the question that is under way. The epoch was raised before. */
  abort(): void {
    this.#controller.abort();
  }

  async answer(): Promise<TurnOutcome['status']> {
    let hasFailed = false;
    let wasCutOff = false;
    const open = this.#findOpenToolCalls();
    if (this.#hasSaidGoodbye() || (open && (await this.#runToolCalls(open, true)))) return this.#finish();
    while (this.isCurrent) {
      const asked = await this.#askModel(wasCutOff);
      wasCutOff = false;
      if (asked.kind === 'finished') return 'answered';
      // Leaving the stream takes a moment, in which the other side may have spoken.
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

  /** Calls that a crash has left without an answer. */
  #findOpenToolCalls(): ToolCallBatch | null {
    const open = findOpenToolCalls(this.#context.record.messages);
    return open && { calls: open.calls, offers: listToolOffers(this.#context), hasSpoken: open.message.text !== '' };
  }

  /** A crash came between a goodbye, said together with its end_call, and the end. */
  #hasSaidGoodbye(): boolean {
    const { state, messages } = this.#context.record;
    return state.closing === 'end_call' && (findLastToolCallMessage(messages)?.text ?? '') !== '';
  }

  /** Does what was asked for, and tells whether that was all: the model said goodbye together with its end_call. */
  async #runToolCalls(called: ToolCallBatch, isRepeated: boolean): Promise<boolean> {
    await runToolCalls(this.#context, this, called, isRepeated);
    return this.isCurrent && called.hasSpoken && this.#context.record.state.closing === 'end_call';
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
      } else if (delta.type === 'failure') return this.#recordFailure(delta);
      else return this.#recordAnswer(delta, offers, mustSpeak, { first_word_ms: firstWordMs, duration_ms: dependencies.now() - askedAt });
    }
    if (!this.isCurrent) return { kind: 'superseded' };
    return this.#recordFailure({ failure: 'provider_failed', message: 'The language model ended without an end', retryable: true });
  }

  /** Writes what the model said and asks for, in one with the end of the turn when that is all. */
  #recordAnswer(
    { tool_calls: asked, usage, model }: Extract<ConversationDelta, { type: 'end' }>,
    offers: ToolOffer[],
    mustSpeak: boolean,
    took: Record<string, number | null>,
  ): ModelAnswer {
    const { record } = this.#context;
    const text = this.speech.finishUtterance();
    const calls = mustSpeak ? [] : asked.map((call, index) => ({ ...call, id: `call_${record.state.nextMessageId}_${index}` }));
    const isFinished = text !== '' && calls.length === 0;
    const answered = { model, ...usage, ...took, tool_calls: calls.map(({ name }) => name) };
    const message: NewMessage = { role: 'assistant', text, ...(calls.length > 0 && { toolCalls: calls }) };
    const end = isFinished ? this.#endOfTurn() : { change: {}, events: [] };
    record.write(
      { usage: addUsage(record.state.usage, usage), ...end.change },
      {
        messages: text !== '' || calls.length > 0 ? [message] : [],
        events: [{ type: 'model_answered', payload: answered }, ...(text === '' ? [] : [toSaidEvent(text)]), ...end.events],
      },
    );
    if (isFinished) return { kind: 'finished' };
    return calls.length > 0 ? { kind: 'calls', calls, offers, hasSpoken: text !== '' } : { kind: 'empty' };
  }

  /** What was said before the failure was heard, so it stays. */
  #recordFailure({ failure, message, retryable, retry_after_seconds: seconds }: CompletionFailure): ModelAnswer {
    const text = this.speech.finishUtterance();
    this.#context.record.write(
      {},
      {
        messages: text === '' ? [] : [{ role: 'assistant', text, isCut: true }],
        events: [...(text === '' ? [] : [toSaidEvent(text)]), { type: 'model_failed', payload: { failure, message } }],
      },
    );
    const told = { failure, message, retryable, ...(seconds !== undefined && { retry_after_seconds: seconds }) };
    return { kind: 'failed', failure: told, hasSpoken: text !== '' };
  }

  #giveUp({ failure }: CompletionFailure): TurnOutcome['status'] {
    const { record, setup } = this.#context;
    if (record.state.closing !== null) return this.#finish(setup.phrases.goodbye);
    if (failure === 'content_filter' || failure === 'refused') return this.#finish(setup.phrases.cannot_say);
    return this.#finish(setup.phrases.apology, { closing: 'error' });
  }

  /** The model has twice said nothing. */
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

  /** It is the other side's turn, or the conversation is over. */
  #endOfTurn(closing = this.#context.record.state.closing): { change: Partial<ConversationState>; events: NewEvent[] } {
    const { record, dependencies } = this.#context;
    const { end } = record.state;
    if (closing === null) return { change: { owesAnswer: false, quietSince: this.speech.speaksUntil }, events: [] };
    return {
      change: { owesAnswer: false, quietSince: null, end: end ?? { reason: closing, at: dependencies.now() } },
      events: [{ type: 'ended', payload: { reason: closing } }],
    };
  }

  /** Says a text of our own, and is over. */
  speakText(text: string, change: Partial<ConversationState> = {}): TurnOutcome['status'] {
    return this.#finish(text, change);
  }
}

const toSaidEvent = (text: string): NewEvent => ({ type: 'agent_said', payload: { text } });

const retryDelayMs = ({ retry_after_seconds: seconds }: CompletionFailure): number =>
  Math.min(seconds === undefined ? retryMs : seconds * 1000, maxRetryMs);

/** A defect of an adapter ends the answer as its failures do: a person waits on the line. */
async function* catchAdapterErrors(deltas: AsyncIterable<ConversationDelta>): AsyncGenerator<ConversationDelta> {
  try {
    yield* deltas;
  } catch (error) {
    yield { type: 'failure', failure: 'provider_failed', message: `The adapter failed: ${(error as Error).name}`, retryable: true };
  }
}
