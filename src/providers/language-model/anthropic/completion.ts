import { z } from 'zod';
import { isRecord, parseJson, tryParseJson, type Json } from '../../../library/json/json.ts';
import type { Runtime } from '../../http/runtime.ts';
import type { Completion, CompletionFailure, CompletionRequest, ModelEndpoint, OutputFormat } from '../contract.ts';
import { IdleTimeout } from '../idle-timeout.ts';
import { withRetry } from '../retry.ts';
import { isStrictSchema } from '../strict-schema.ts';
import { connected, postMessages } from './api.ts';
import { fail, failureFromAnthropicError } from './errors.ts';
import { toWireMessages } from './messages.ts';
import { lowestThinking, mayUse, thinkingTokens, withoutRefusedFeatures, type Feature } from './model-features.ts';
import { toUsage, Usage } from './usage.ts';

const maxTimeoutSeconds = 60;
/** The API requires a maximum; every model takes this one. */
const defaultMaxTokens = 4_096;
const answerTool = 'answer';
const answerToolInstruction = `Give your answer by calling the tool "${answerTool}", and say nothing else.`;

/** The used fields of an answer. */
const Message = z.object({
  model: z.string().optional(),
  stop_reason: z.string().nullish(),
  content: z.array(
    z.union([
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('tool_use'), name: z.string(), input: z.unknown() }),
      z.object({ type: z.string() }),
    ]),
  ),
  usage: Usage.nullish(),
});

/** Calls Anthropic's Messages API, or a service with the same. */
export async function completeWithAnthropic(
  endpoint: ModelEndpoint,
  request: CompletionRequest,
  runtime: Runtime,
): Promise<Completion | CompletionFailure> {
  const model = request.model ?? endpoint.model;
  const timeoutSeconds = Math.min(request.timeout_seconds ?? maxTimeoutSeconds, maxTimeoutSeconds);
  const attempt = async (timeoutMs: number): Promise<Completion | CompletionFailure> => {
    const timeout = new IdleTimeout();
    timeout.start(timeoutMs);
    try {
      return parseMessage(await askForMessage(endpoint, model, request, timeout.signal, runtime), request, model);
    } catch (error) {
      if (timeout.isExpired)
        return fail('provider_failed', `The language model provider gave no answer within ${timeoutSeconds} seconds`, true);
      return failureFromAnthropicError(error, { endpoint, model, now: runtime.now() });
    } finally {
      timeout.stop();
    }
  };
  return withRetry(runtime, runtime.now() + timeoutSeconds * 1000, attempt, request.max_attempts);
}

async function askForMessage(
  endpoint: ModelEndpoint,
  model: string,
  request: CompletionRequest,
  signal: AbortSignal,
  runtime: Runtime,
): Promise<Json> {
  const usedFeatures = () => chooseFeatures(endpoint, model, request.output);
  return withoutRefusedFeatures(endpoint, model, usedFeatures, async () => {
    const response = await postMessages(endpoint, toRequestBody(request, model, usedFeatures()), signal, runtime);
    return parseJson(await connected(response.text()));
  });
}

/**
 * How a JSON answer is asked for. The output format makes every answer fit, and newer models refuse a forced tool; older models know the
 * tool alone.
 */
function chooseFeatures(endpoint: ModelEndpoint, model: string, output: OutputFormat | undefined): Feature[] {
  const wanted: Feature[] = ['thinking'];
  if (output && hasOutputFormat(output.schema) && mayUse(endpoint, model, 'output_format')) wanted.push('output_format');
  else if (output) wanted.push('forced_tool');
  return wanted.filter((feature) => mayUse(endpoint, model, feature));
}

/** Whether the output format takes the schema: it has to be as closed as OpenAI's strict mode wants it, and may bound neither numbers nor lists. */
const hasOutputFormat = (schema: Record<string, unknown>): boolean =>
  isStrictSchema(schema) &&
  !/"(?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minItems|maxItems|pattern)":/.test(JSON.stringify(schema));

function toRequestBody(
  { system, messages, output, max_tokens: maxTokens }: CompletionRequest,
  model: string,
  features: readonly Feature[],
) {
  const isByTool = output !== undefined && !features.includes('output_format');
  const instructions = [system ?? '', isByTool ? answerToolInstruction : ''].filter((text) => text.trim() !== '').join('\n\n');
  const { output_config: effort, ...thinking } = features.includes('thinking') ? lowestThinking(model) : {};
  const format = output && !isByTool ? { format: { type: 'json_schema', schema: output.schema } } : {};
  const config = { ...effort, ...format };
  return {
    model,
    max_tokens: (maxTokens ?? defaultMaxTokens) + thinkingTokens(model),
    ...(instructions !== '' && { system: instructions }),
    messages: toWireMessages(messages),
    ...thinking,
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(isByTool && {
      tools: [{ name: answerTool, description: 'Takes the answer.', input_schema: output.schema }],
      tool_choice: features.includes('forced_tool') ? { type: 'tool', name: answerTool } : { type: 'auto' },
    }),
  };
}

/** The completion in a successful answer, or the failure that it describes. */
function parseMessage(body: Json, { output }: CompletionRequest, model: string): Completion | CompletionFailure {
  const parsed = Message.safeParse(body);
  if (!parsed.success) return fail('provider_failed', 'The language model provider answered something that is no message', true);
  const { content, stop_reason: reason, usage, model: answering } = parsed.data;
  if (reason === 'refusal') return fail('refused', 'The model refuses to answer this prompt; change the prompt');
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded')
    return fail('output_truncated', 'The answer was cut off at the length that the model allows; ask for a shorter one');
  const text = content.map((block) => ('text' in block ? block.text : '')).join('');
  const used = content.find((block) => 'input' in block && block.name === answerTool);
  const answer = output && used && 'input' in used && isRecord(used.input) ? JSON.stringify(used.input) : text;
  if (answer.trim() === '') return fail('invalid_output', 'The model answered nothing', true);
  const completion: Completion = { text: answer, model: answering ?? model, usage: toUsage(usage) };
  if (!output) return completion;
  const json = tryParseJson(answer);
  if (json === undefined) return fail('invalid_output', 'The model answered no JSON although there is an output schema', true);
  const problem = output.validate(json);
  return problem === null ? { ...completion, json } : fail('invalid_output', `The answer does not fit the output schema: ${problem}`, true);
}
