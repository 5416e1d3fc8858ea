import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { ContextSchema } from '../../../expressions/schemas/context-schema.ts';
import { renderText, type Scope } from '../../../expressions/templates/render.ts';
import {
  actionHandles,
  defaultHandle,
  defineNode,
  failure,
  simulated,
  type StepResult,
  type TextAnswer,
  type TextRequest,
} from '../contract.ts';
import { variableNameSchema } from '../shared/fields.ts';

const maxPromptLength = 100_000;

const LlmData = configObject({
  prompt: z.string().min(1).max(maxPromptLength),
  system: z.string().max(maxPromptLength).nullish(),
  output_schema: ContextSchema.superRefine((schema, context) => {
    if (schema['type'] === 'object') return;
    const message = 'The root of output_schema must have "type": "object"; put a list or a single value into one of its properties';
    context.addIssue({ code: 'custom', path: ['type'], message });
  }).nullish(),
  save_as: variableNameSchema.nullish(),
  model: z.string().trim().min(1).max(200).nullish(),
});
type LlmData = z.infer<typeof LlmData>;

export const llmNode = defineNode<LlmData>({
  type: 'llm',
  label: 'Language model',
  description:
    'Asks a language model. The output is { result, model, usage }, with fallbacks when other models of the organization failed before; result is the text, or with output_schema (a JSON Schema of an object) the JSON that fits it. save_as also writes result to a variable. Rate limits, network trouble, 5xx and answers that do not fit are tried again.',
  dataSchema: LlmData,
  handles: actionHandles,
  // Each completion costs money.
  isSideEffect: true,
  example: {
    prompt: 'How does this customer feel? {{ data.message }}',
    system: 'You sort messages of customers.',
    output_schema: {
      type: 'object',
      properties: { mood: { type: 'string', enum: ['good', 'bad', 'unclear'] } },
      required: ['mood'],
      additionalProperties: false,
    },
    save_as: 'feeling',
  },
  run: async (step) => {
    const request = toTextRequest(step.data, step.scope);
    if (request.prompt.trim() === '') return failure('invalid_request', 'prompt renders to nothing, so there is nothing to ask');
    if (step.dryRun) return simulated(request);
    return toStepResult(await step.effects.completeText(step.key, request), step.data.save_as ?? null);
  },
});

function toTextRequest({ prompt, system, output_schema: schema, model }: LlmData, scope: Scope): TextRequest {
  const instructions = system ? renderText(system, scope) : '';
  return {
    model: model ?? null,
    system: instructions.trim() === '' ? null : instructions,
    prompt: renderText(prompt, scope),
    output_schema: schema ?? null,
  };
}

function toStepResult(answer: TextAnswer, saveAs: string | null): StepResult {
  if ('failure' in answer) {
    const { failure: type, message, retryable, retry_after_seconds: retryAfterSeconds } = answer;
    return { kind: 'fail', type, message, retryable, retryAfterSeconds };
  }
  const { result, model, usage, fallbacks } = answer;
  const assign = saveAs === null ? {} : { assign: { [saveAs]: result } };
  return { kind: 'next', handle: defaultHandle, output: { result, model, usage, ...(fallbacks && { fallbacks }) }, usage, ...assign };
}
