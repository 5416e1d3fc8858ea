import { z } from 'zod';
import type { Completion, CompletionFailure, ConversationDelta, ToolCall } from '../contract.ts';
import { brokenOff, type AnswerCollector } from '../stream-answer.ts';
import { fail, failureFromErrorEvent } from './errors.ts';
import type { ServerSentEvent } from './event-stream.ts';
import { toUsage, Usage } from './usage.ts';

/** The used parts of the events. `type` stands in the data, too; events and parts of other types are skipped, as the API asks for. */
const Event = z.object({
  type: z.string(),
  index: z.number().optional(),
  message: z.object({ model: z.string().nullish(), usage: Usage.nullish() }).optional(),
  content_block: z
    .object({
      type: z.string(),
      text: z.string().nullish(),
      id: z.string().nullish(),
      name: z.string().nullish(),
      input: z.unknown().optional(),
    })
    .optional(),
  delta: z
    .object({
      type: z.string().optional(),
      text: z.string().nullish(),
      partial_json: z.string().nullish(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: Usage.nullish(),
  error: z.object({ type: z.string() }).optional(),
});

type AddedPart = { text: string; hasToken: boolean };
const nothing: AddedPart = { text: '', hasToken: false };

/** Puts the events of one streamed message together. The pieces of a tool call have the index of its block. */
export class MessageCollector implements AnswerCollector<ServerSentEvent> {
  readonly #calls = new Map<number, ToolCall>();
  #model: string;
  #usage: Completion['usage'] = { prompt_tokens: 0, completion_tokens: 0 };
  #stopReason: string | null = null;

  constructor(model: string) {
    this.#model = model;
  }

  add({ data }: ServerSentEvent): AddedPart | CompletionFailure {
    const parsed = Event.safeParse(JSON.parse(data));
    if (!parsed.success) return fail('provider_failed', 'The language model provider answered something that is no message', true);
    const { type, index = 0, message, content_block: block, delta, usage, error } = parsed.data;
    if (type === 'error') return failureFromErrorEvent(error?.type ?? '');
    if (type === 'message_start') {
      this.#model = message?.model || this.#model;
      this.#usage = toUsage(message?.usage);
    } else if (type === 'content_block_start' && block) return this.#startBlock(index, block);
    else if (type === 'content_block_delta' && delta) return this.#addDelta(index, delta);
    else if (type === 'message_delta') {
      this.#stopReason = delta?.stop_reason ?? this.#stopReason;
      // The counts of this event are sums.
      const { prompt_tokens: prompt, completion_tokens: completion } = toUsage(usage);
      this.#usage = {
        prompt_tokens: Math.max(prompt, this.#usage.prompt_tokens),
        completion_tokens: Math.max(completion, this.#usage.completion_tokens),
      };
    }
    return nothing;
  }

  #startBlock(index: number, { type, text, id, name, input }: NonNullable<z.infer<typeof Event>['content_block']>): AddedPart {
    if (type === 'text') return { text: text ?? '', hasToken: Boolean(text) };
    if (type !== 'tool_use') return nothing;
    const isWhole = typeof input === 'object' && input !== null && Object.keys(input).length > 0;
    this.#calls.set(index, { id: id || `call_${index}`, name: name ?? '', arguments: isWhole ? JSON.stringify(input) : '' });
    return { text: '', hasToken: true };
  }

  #addDelta(index: number, { type, text, partial_json: json }: NonNullable<z.infer<typeof Event>['delta']>): AddedPart {
    if (type === 'text_delta') return { text: text ?? '', hasToken: Boolean(text) };
    const call = this.#calls.get(index);
    if (type !== 'input_json_delta' || !call) return nothing;
    this.#calls.set(index, { ...call, arguments: call.arguments + (json ?? '') });
    return { text: '', hasToken: true };
  }

  end(hasSpoken: boolean): ConversationDelta {
    if (this.#stopReason === null) return { type: 'failure', ...brokenOff() };
    if (this.#stopReason === 'refusal' && !hasSpoken)
      return { type: 'failure', ...fail('refused', 'The model refuses to answer this prompt; change the prompt') };
    const calls = [...this.#calls.entries()].toSorted(([one], [other]) => one - other);
    return {
      type: 'end',
      // A tool without parameters may be called without any piece of arguments.
      tool_calls: calls.map(([, { id, name, arguments: text }]) => ({ id, name, arguments: text === '' ? '{}' : text })),
      model: this.#model,
      usage: this.#usage,
    };
  }
}
