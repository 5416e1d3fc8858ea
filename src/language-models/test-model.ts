import { validateContext } from '../expressions/schemas/context-schema.ts';
import { systemRuntime, type Runtime } from '../providers/http/runtime.ts';
import type {
  CompletionFailure,
  FailureType,
  LanguageModel,
  ModelEndpoint,
  OutputFormat,
  Tool,
} from '../providers/language-model/contract.ts';
import { createEndpointModel } from '../providers/language-model/language-model.ts';
import { neededAbilities, type ModelAbility, type PurposeOrder } from './purposes.ts';

export type TestFailure = FailureType | 'tools_not_supported' | 'structured_output_not_supported';

/** The result of one small request to a model. */
export interface AbilityTest {
  ability: ModelAbility;
  passed: boolean;
  /** Null: it passed. */
  failure: TestFailure | null;
  /** The cause and the remedy, without the key; null: it passed. */
  message: string | null;
  duration_ms: number;
  /** The provider's name of the model that answered; null: none did. */
  answered_by: string | null;
  tokens: { prompt: number; completion: number };
}

export interface ModelTest {
  passed: boolean;
  abilities: AbilityTest[];
}

type Answered = { model: string; usage: { prompt_tokens: number; completion_tokens: number } };
type TestOutcome = Answered | { failure: TestFailure; message: string };

const timeoutSeconds = 15;
const maxTokens = 300;

const confirmTool: Tool = {
  name: 'confirm_connection',
  description: 'Confirms that the connection works.',
  parameters: {
    type: 'object',
    properties: { is_working: { type: 'boolean', description: 'Whether the connection works' } },
    required: ['is_working'],
    additionalProperties: false,
  },
};
const toolRequest = {
  system: `This is the test of a connection. Call the tool ${confirmTool.name} with is_working true now, and say nothing.`,
  messages: [{ role: 'user' as const, content: 'Please confirm that the connection is working.' }],
};

const answerSchema = {
  type: 'object',
  properties: { is_working: { type: 'boolean' }, language: { type: 'string', enum: ['en', 'other'] } },
  required: ['is_working', 'language'],
  additionalProperties: false,
};
const answerFormat: OutputFormat = {
  schema: answerSchema,
  validate: (answer) => validateContext(answerSchema, answer, []).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)[0] ?? null,
};
const plainRequest = {
  system: 'This is the test of a connection.',
  messages: [{ role: 'user' as const, content: 'Say in one short sentence that the connection is working, yes.' }],
  max_tokens: maxTokens,
  timeout_seconds: timeoutSeconds,
  max_attempts: 1,
};

/** Sends a model one small request for each ability that its purposes need, at once. */
export async function testModel(endpoint: ModelEndpoint, purposes: PurposeOrder, runtime: Runtime = systemRuntime): Promise<ModelTest> {
  const model = createEndpointModel(() => endpoint, runtime);
  const abilities = await Promise.all(neededAbilities(purposes).map((ability) => testAbility(model, ability, runtime)));
  return { passed: abilities.every(({ passed }) => passed), abilities };
}

const tests: Record<ModelAbility, (model: LanguageModel) => Promise<TestOutcome>> = {
  tools: testTools,
  structured_output: testStructuredOutput,
  answers: (model) => model.complete(plainRequest),
};

async function testAbility(model: LanguageModel, ability: ModelAbility, runtime: Runtime): Promise<AbilityTest> {
  const startedAt = runtime.now();
  const outcome = await tests[ability](model);
  const isFailed = 'failure' in outcome;
  return {
    ability,
    passed: !isFailed,
    failure: isFailed ? outcome.failure : null,
    message: isFailed ? outcome.message : null,
    duration_ms: Math.round(runtime.now() - startedAt),
    answered_by: isFailed ? null : outcome.model,
    tokens: isFailed ? { prompt: 0, completion: 0 } : { prompt: outcome.usage.prompt_tokens, completion: outcome.usage.completion_tokens },
  };
}

/** Has the model call a tool over a stream, as in a talk. */
async function testTools(model: LanguageModel): Promise<TestOutcome> {
  const withTools = await stream(model, [confirmTool]);
  if ('calledTools' in withTools)
    return withTools.calledTools.includes(confirmTool.name)
      ? withTools
      : toolsNotSupported('it answered without the tool that it was told to call');
  if (withTools.failure !== 'invalid_request') return withTools;
  const withoutTools = await stream(model, []);
  return 'failure' in withoutTools ? withTools : toolsNotSupported('it refuses a request with tools, and answers one without');
}

async function stream(model: LanguageModel, tools: Tool[]): Promise<(Answered & { calledTools: string[] }) | CompletionFailure> {
  const limits = { max_tokens: maxTokens, silence_seconds: timeoutSeconds, max_attempts: 1 };
  for await (const delta of model.converse({ ...toolRequest, ...limits, tools }, new AbortController().signal)) {
    if (delta.type === 'failure') return delta;
    if (delta.type === 'end') return { model: delta.model, usage: delta.usage, calledTools: delta.tool_calls.map(({ name }) => name) };
  }
  return { failure: 'provider_failed', message: 'The language model provider ended its answer without an end', retryable: true };
}

const toolsNotSupported = (reason: string): TestOutcome => ({
  failure: 'tools_not_supported',
  message: `The model does not call tools, which talks need: ${reason}; take another model, or give talk none`,
});

async function testStructuredOutput(model: LanguageModel): Promise<TestOutcome> {
  const answer = await model.complete({ ...plainRequest, output: answerFormat });
  if (!('failure' in answer)) return answer;
  if (answer.failure === 'invalid_output') return structuredOutputNotSupported(answer.message);
  if (answer.failure !== 'invalid_request') return answer;
  const plain = await model.complete(plainRequest);
  return 'failure' in plain ? answer : structuredOutputNotSupported('it refuses a request with a schema, and answers one without');
}

const structuredOutputNotSupported = (reason: string): TestOutcome => ({
  failure: 'structured_output_not_supported',
  message: `The model does not answer in JSON by a schema: ${reason}; take another model, or use it for talk alone`,
});
