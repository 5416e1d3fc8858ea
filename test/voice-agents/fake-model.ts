import type {
  CompletionFailure,
  CompletionRequest,
  ConversationDelta,
  ConversationRequest,
  LanguageModel,
  ToolCall,
} from '../../src/providers/language-model/contract.ts';
import type { Json } from '../../src/library/json/json.ts';

type Call = [name: string, parameters?: object | string];
/** What the model answers: words, calls or a failure, which may come behind words. */
export type Answer =
  | string
  | { text?: string | string[]; calls?: Call[]; failure?: CompletionFailure['failure']; retryable?: boolean; throws?: true };

export const usage = { prompt_tokens: 10, completion_tokens: 2 };

const toolCall = ([name, parameters = {}]: Call, index: number): ToolCall => ({
  id: `call_${index}`,
  name,
  arguments: typeof parameters === 'string' ? parameters : JSON.stringify(parameters),
});

/** The deltas of an answer; words come one by one. */
function deltasOf(answer: Answer): ConversationDelta[] {
  const { text = '', calls = [], failure, retryable = true } = typeof answer === 'string' ? { text: answer } : answer;
  const words = typeof text === 'string' ? (text.match(/\s*\S+/g) ?? []) : text;
  const last: ConversationDelta = failure
    ? { type: 'failure', failure, message: `It is ${failure}`, retryable }
    : { type: 'end', tool_calls: calls.map(toolCall), model: 'm', usage };
  return [...words.map((word) => ({ type: 'text' as const, text: word })), last];
}

type Script = Answer | ((request: ConversationRequest) => Answer);

/** A model that answers in turn, the last answer again and again, and keeps what it was asked. */
export class FakeModel implements LanguageModel {
  readonly asked: ConversationRequest[] = [];
  readonly completions: CompletionRequest[] = [];
  readonly #answers: Script[];
  /** What a question with an output schema gets. */
  completeWith: (request: CompletionRequest) => Json | CompletionFailure = () => ({});

  constructor(...answers: Script[]) {
    this.#answers = answers;
  }

  async complete(request: CompletionRequest) {
    this.completions.push(request);
    const answer = this.completeWith(request);
    if (typeof answer === 'object' && answer !== null && 'failure' in answer) return answer as CompletionFailure;
    return { text: JSON.stringify(answer), json: answer as Json, model: 'm', usage };
  }

  async *converse(request: ConversationRequest): AsyncGenerator<ConversationDelta> {
    this.asked.push(structuredClone(request));
    const script = this.#answers.length > 1 ? this.#answers.shift()! : this.#answers[0]!;
    const answer = typeof script === 'function' ? script(request) : script;
    if (typeof answer === 'object' && answer.throws) throw new TypeError('a defect');
    yield* deltasOf(answer);
  }
}

/** One answer that comes when the test says so. */
export class HeldStream {
  readonly signal: AbortSignal;
  readonly number: number;
  readonly #deltas: ConversationDelta[];
  readonly #leave: () => Promise<void>;
  #wake: () => void = () => {};
  #released = 0;
  isOver = false;

  constructor(number: number, answer: Answer, signal: AbortSignal, leave: () => Promise<void>) {
    this.number = number;
    this.#leave = leave;
    this.#deltas = deltasOf(answer);
    this.signal = signal;
    signal.addEventListener('abort', () => this.#wake());
  }

  get canRelease(): boolean {
    return !this.isOver && this.#released < this.#deltas.length;
  }

  /** Lets `count` more deltas go. */
  release(count = 1): void {
    this.#released += count;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ConversationDelta> {
    try {
      for (const [index, delta] of this.#deltas.entries()) {
        while (index >= this.#released && !this.signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
        if (this.signal.aborted) return;
        yield delta;
      }
    } finally {
      this.isOver = true;
      await this.#leave();
    }
  }
}

/** A model whose every answer waits for the test. */
export class HeldModel extends FakeModel {
  readonly streams: HeldStream[] = [];
  /** What whoever leaves a stream waits for. */
  leave: () => Promise<void> = async () => {};
  readonly #answer: (number: number, request: ConversationRequest) => Answer;

  constructor(answer: (number: number, request: ConversationRequest) => Answer) {
    super('');
    this.#answer = answer;
  }

  override async *converse(request: ConversationRequest, signal = new AbortController().signal): AsyncGenerator<ConversationDelta> {
    this.asked.push(structuredClone(request));
    const stream = new HeldStream(this.streams.length, this.#answer(this.streams.length, request), signal, this.leave);
    this.streams.push(stream);
    yield* stream;
  }

  /** Lets everything go that is held, until nothing more is asked. */
  async drain(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet++) {
      for (const stream of this.streams)
        if (stream.canRelease) {
          stream.release(100);
          quiet = 0;
        }
      await settle();
    }
  }
}

/** Lets everything run that waits for nothing. */
export async function settle(): Promise<void> {
  for (let step = 0; step < 30; step++) await Promise.resolve();
}
