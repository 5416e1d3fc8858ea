import { z } from 'zod';
import { tryParseJson } from '../../library/json/json.ts';
import type { Completion, CompletionFailure, CompletionRequest, FailureType } from './contract.ts';

/** The used fields of an answer; services with OpenAI's API omit others. */
const ChatCompletion = z.object({
  model: z.string().optional(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

const fail = (failure: FailureType, message: string, retryable = false): CompletionFailure => ({ failure, message, retryable });

/** The completion in a successful answer, or the failure that it describes. */
export function parseCompletion(body: unknown, { output }: CompletionRequest, model: string): Completion | CompletionFailure {
  const parsed = ChatCompletion.safeParse(body);
  if (!parsed.success) return fail('provider_failed', 'The language model provider answered something that is no chat completion', true);
  const { choices, usage, model: answering } = parsed.data;
  const { message, finish_reason: finish } = choices[0]!;
  if (message.refusal) return fail('refused', 'The model refuses to answer this prompt; change the prompt');
  if (finish === 'content_filter') return fail('content_filter', "The provider's content filter held the answer back; change the prompt");
  if (finish === 'length')
    return fail('output_truncated', 'The answer was cut off at the length that the model allows; ask for a shorter one');
  const text = message.content ?? '';
  if (text.trim() === '') return fail('invalid_output', 'The model answered nothing', true);
  const completion: Completion = {
    text,
    model: answering ?? model,
    usage: { prompt_tokens: usage?.prompt_tokens ?? 0, completion_tokens: usage?.completion_tokens ?? 0 },
  };
  if (!output) return completion;
  const json = tryParseJson(text);
  if (json === undefined) return fail('invalid_output', 'The model answered no JSON although there is an output schema', true);
  const problem = output.validate(json);
  return problem === null ? { ...completion, json } : fail('invalid_output', `The answer does not fit the output schema: ${problem}`, true);
}
