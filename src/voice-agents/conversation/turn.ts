import type { CompletionFailure, ConversationDelta, ToolCall } from '../../providers/language-model/language-model.ts';
import type { ConversationState, TurnOutcome } from './contract.ts';
import { lastCalling, openCalls, toolRounds } from './history.ts';
import { offersAt, type Offer } from './offers.ts';
import { performCalls } from './perform-calls.ts';
import { addUsage, type NewEvent, type NewMessage } from './record.ts';
import { requestOf } from './request.ts';
import type { Talk } from './talk.ts';
import { Voice } from './voice.ts';

const mostToolRounds = 8;
const retryMs = 300;
/** Nobody listens to a longer silence. */
const longestRetryMs = 2_000;

interface Called {
  calls: ToolCall[];
  offers: Offer[];
  hasSpoken: boolean;
}

/** What one question to the model led to. */
type Asked =
  | { kind: 'superseded' }
  | { kind: 'finished' }
  | { kind: 'empty' }
  | ({ kind: 'calls' } & Called)
  | { kind: 'failed'; failure: CompletionFailure; hasSpoken: boolean };

/** The agent's answer: it asks the model, does what the model asks for, and goes on until something was said and nothing is left to do. */
export class Turn {
  readonly voice: Voice;
  readonly #talk: Talk;
  readonly #epoch: number;
  readonly #controller = new AbortController();

  constructor(talk: Talk) {
    this.#talk = talk;
    this.#epoch = talk.record.state.epoch;
    this.voice = new Voice(talk);
  }

  /** Whether nothing has come after this turn: only then may it say or decide anything. */
  get isCurrent(): boolean {
    return this.#talk.record.state.epoch === this.#epoch;
  }

  /** Ends the question that is under way. The epoch was raised before. */
  abort(): void {
    this.#controller.abort();
  }

  async answer(): Promise<TurnOutcome['status']> {
    let hasFailed = false;
    let wasCutOff = false;
    const open = this.#openCalls();
    if (this.#hasSaidGoodbye() || (open && (await this.#perform(open, true)))) return this.#finish();
    while (this.isCurrent) {
      const asked = await this.#ask(wasCutOff);
      wasCutOff = false;
      if (asked.kind === 'finished') return 'answered';
      // Leaving the stream takes a moment, in which the other side may have spoken.
      if (!this.isCurrent) break;
      if (asked.kind === 'calls' && (await this.#perform(asked, false))) return this.#finish();
      if (asked.kind !== 'failed' && asked.kind !== 'empty') continue;
      const isHopeless = asked.kind === 'failed' && !asked.failure.retryable;
      if (hasFailed || isHopeless) return asked.kind === 'failed' ? this.#giveUp(asked.failure) : this.#fillSilence();
      hasFailed = true;
      wasCutOff = asked.kind === 'failed' && asked.hasSpoken;
      if (asked.kind === 'failed') await this.#talk.world.sleep(waitMs(asked.failure));
    }
    return 'superseded';
  }

  /** Calls that a crash has left without an answer. */
  #openCalls(): Called | null {
    const open = openCalls(this.#talk.record.messages);
    return open && { calls: open.calls, offers: offersAt(this.#talk), hasSpoken: open.message.text !== '' };
  }

  /** A crash came between a goodbye, said together with its end_call, and the end. */
  #hasSaidGoodbye(): boolean {
    const { state, messages } = this.#talk.record;
    return state.closing === 'end_call' && (lastCalling(messages)?.text ?? '') !== '';
  }

  /** Does what was asked for, and tells whether that was all: the model said goodbye together with its end_call. */
  async #perform(called: Called, isRepeated: boolean): Promise<boolean> {
    await performCalls(this.#talk, this, called, isRepeated);
    return this.isCurrent && called.hasSpoken && this.#talk.record.state.closing === 'end_call';
  }

  async #ask(wasCutOff: boolean): Promise<Asked> {
    const { record, world } = this.#talk;
    const offers = offersAt(this.#talk);
    const mustSpeak = record.state.closing !== null || toolRounds(record.messages) >= mostToolRounds;
    const request = requestOf(this.#talk, offers, { mustSpeak, wasCutOff });
    const askedAt = world.now();
    let firstWordMs: number | null = null;
    for await (const delta of unfailing(world.model.converse(request, this.#controller.signal))) {
      if (!this.isCurrent) return { kind: 'superseded' };
      if (delta.type === 'text') {
        firstWordMs ??= world.now() - askedAt;
        this.voice.add(delta.text);
      } else if (delta.type === 'failure') return this.#failed(delta);
      else return this.#heardOut(delta, offers, mustSpeak, { first_word_ms: firstWordMs, duration_ms: world.now() - askedAt });
    }
    if (!this.isCurrent) return { kind: 'superseded' };
    return this.#failed({ failure: 'provider_failed', message: 'The language model ended without an end', retryable: true });
  }

  /** Writes what the model said and asks for, in one with the end of the turn when that is all. */
  #heardOut(
    { tool_calls: asked, usage, model }: Extract<ConversationDelta, { type: 'end' }>,
    offers: Offer[],
    mustSpeak: boolean,
    took: Record<string, number | null>,
  ): Asked {
    const { record } = this.#talk;
    const text = this.voice.close();
    const calls = mustSpeak ? [] : asked.map((call, index) => ({ ...call, id: `call_${record.state.nextMessageId}_${index}` }));
    const isFinished = text !== '' && calls.length === 0;
    const answered = { model, ...usage, ...took, tool_calls: calls.map(({ name }) => name) };
    const message: NewMessage = { role: 'assistant', text, ...(calls.length > 0 && { toolCalls: calls }) };
    const end = isFinished ? this.#ending() : { change: {}, events: [] };
    record.write(
      { usage: addUsage(record.state.usage, usage), ...end.change },
      {
        messages: text !== '' || calls.length > 0 ? [message] : [],
        events: [{ type: 'model_answered', payload: answered }, ...(text === '' ? [] : [said(text)]), ...end.events],
      },
    );
    if (isFinished) return { kind: 'finished' };
    return calls.length > 0 ? { kind: 'calls', calls, offers, hasSpoken: text !== '' } : { kind: 'empty' };
  }

  /** What was said before the failure was heard, so it stays. */
  #failed({ failure, message, retryable, retry_after_seconds: seconds }: CompletionFailure): Asked {
    const text = this.voice.close();
    this.#talk.record.write(
      {},
      {
        messages: text === '' ? [] : [{ role: 'assistant', text, isCut: true }],
        events: [...(text === '' ? [] : [said(text)]), { type: 'model_failed', payload: { failure, message } }],
      },
    );
    const told = { failure, message, retryable, ...(seconds !== undefined && { retry_after_seconds: seconds }) };
    return { kind: 'failed', failure: told, hasSpoken: text !== '' };
  }

  #giveUp({ failure }: CompletionFailure): TurnOutcome['status'] {
    const { record, setup } = this.#talk;
    if (record.state.closing !== null) return this.#finish(setup.phrases.goodbye);
    if (failure === 'content_filter' || failure === 'refused') return this.#finish(setup.phrases.cannot_say);
    return this.#finish(setup.phrases.apology, { closing: 'error' });
  }

  /** The model has twice said nothing. */
  #fillSilence(): TurnOutcome['status'] {
    const { record, setup } = this.#talk;
    if (record.state.closing !== null) return this.#finish(setup.phrases.goodbye);
    if (this.voice.said.length > 0) return this.#finish();
    return this.#finish(setup.phrases.please_repeat, {}, { fillsSilence: true });
  }

  #finish(phrase?: string, more: Partial<ConversationState> = {}, kind: Pick<NewMessage, 'fillsSilence'> = {}): TurnOutcome['status'] {
    if (phrase !== undefined) this.voice.utter(phrase);
    const { change, events } = this.#ending(more.closing);
    const messages: NewMessage[] = phrase === undefined ? [] : [{ role: 'assistant', text: phrase, ...kind }];
    this.#talk.record.write({ ...more, ...change }, { messages, events: [...(phrase === undefined ? [] : [said(phrase)]), ...events] });
    return 'answered';
  }

  /** It is the other side's turn, or the conversation is over. */
  #ending(closing = this.#talk.record.state.closing): { change: Partial<ConversationState>; events: NewEvent[] } {
    const { record, world } = this.#talk;
    const { end } = record.state;
    if (closing === null) return { change: { owesAnswer: false, quietSince: this.voice.speaksUntil }, events: [] };
    return {
      change: { owesAnswer: false, quietSince: null, end: end ?? { reason: closing, at: world.now() } },
      events: [{ type: 'ended', payload: { reason: closing } }],
    };
  }

  /** Says a text of our own, and is over. */
  say(text: string, change: Partial<ConversationState> = {}): TurnOutcome['status'] {
    return this.#finish(text, change);
  }
}

const said = (text: string): NewEvent => ({ type: 'agent_said', payload: { text } });

const waitMs = ({ retry_after_seconds: seconds }: CompletionFailure): number =>
  Math.min(seconds === undefined ? retryMs : seconds * 1000, longestRetryMs);

/** A defect of an adapter ends the answer as its failures do: a person waits on the line. */
async function* unfailing(deltas: AsyncIterable<ConversationDelta>): AsyncGenerator<ConversationDelta> {
  try {
    yield* deltas;
  } catch (error) {
    yield { type: 'failure', failure: 'provider_failed', message: `The adapter failed: ${(error as Error).name}`, retryable: true };
  }
}
