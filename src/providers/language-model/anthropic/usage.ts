import { z } from 'zod';
import type { Completion } from '../contract.ts';

/** The counts of an answer. Parts of the prompt that were read from a cache, or written to one, are not in `input_tokens`. */
export const Usage = z.object({
  input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
});

export const toUsage = (usage: z.infer<typeof Usage> | null | undefined): Completion['usage'] => ({
  prompt_tokens: (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0),
  completion_tokens: usage?.output_tokens ?? 0,
});
