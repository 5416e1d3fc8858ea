import { z } from 'zod';
import type { Completion, ToolCall } from './contract.ts';

/** The used fields of a chunk; services with OpenAI's API omit others. */
export const Chunk = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().nullish(),
                  id: z.string().nullish(),
                  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

/** Joins the chunks of an answer. The pieces of a tool call have the same index. */
export class ChunkJoiner {
  readonly #calls = new Map<number, ToolCall>();
  usage: Completion['usage'] = { prompt_tokens: 0, completion_tokens: 0 };
  model: string | null = null;
  finish: string | null = null;

  /** The text of the chunk. A refusal is text, too, and is spoken. */
  add({ model, choices, usage }: z.infer<typeof Chunk>): string {
    if (model) this.model = model;
    if (usage) this.usage = { prompt_tokens: usage.prompt_tokens, completion_tokens: usage.completion_tokens };
    const choice = choices?.[0];
    if (choice?.finish_reason) this.finish = choice.finish_reason;
    for (const [position, piece] of (choice?.delta?.tool_calls ?? []).entries()) {
      const index = piece.index ?? position;
      const call = this.#calls.get(index) ?? { id: `call_${index}`, name: '', arguments: '' };
      this.#calls.set(index, {
        id: piece.id || call.id,
        name: piece.function?.name || call.name,
        arguments: call.arguments + (piece.function?.arguments ?? ''),
      });
    }
    return (choice?.delta?.content ?? '') + (choice?.delta?.refusal ?? '');
  }

  calls(): ToolCall[] {
    return [...this.#calls.entries()].toSorted(([one], [other]) => one - other).map(([, call]) => call);
  }
}
