import { validateContext } from '../../expressions/schemas/context-schema.ts';
import { findTemplateRoots } from '../../expressions/templates/render.ts';
import { isRecord, type Json } from '../../library/json/json.ts';
import type { OutputFormat } from '../../providers/language-model/contract.ts';
import type { TalkNode } from '../definition/definition.ts';
import type { ExtractionVariable } from '../definition/schemas.ts';
import { countUsage, toFallbackEvent } from './record.ts';
import { listEdgesFrom, getNode, renderLenient, buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import { toTranscript, formatTranscript } from './transcript.ts';

const timeoutSeconds = 10;
const maxTranscriptCharacters = 100_000;

export const toOutputFormat = (schema: Record<string, unknown>): OutputFormat => ({
  schema,
  validate: (answer) => validateContext(schema, answer, []).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)[0] ?? null,
});

export const strictObjectSchema = (properties: Record<string, unknown>): Record<string, unknown> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** The JSON Schema of the answer. A variable that was not said is null. */
export const buildVariablesSchema = (variables: readonly ExtractionVariable[]): Record<string, unknown> =>
  strictObjectSchema(
    Object.fromEntries(variables.map(({ name, type, prompt }) => [name, { type: [type, 'null'], ...(prompt && { description: prompt }) }])),
  );

export const omitNullValues = (answer: unknown): Record<string, Json> =>
  isRecord(answer) ? (Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null)) as Record<string, Json>) : {};

/** The end of the transcript, at most `maxTranscriptCharacters`, as input of the model. */
export const recentTranscript = ({ record }: ConversationContext): string =>
  formatTranscript(toTranscript(record.messages)).slice(-maxTranscriptCharacters);

const instruction = 'Read this part of a conversation and take from it what is asked for. What was not said is null; guess nothing.';

/** Extracts a node's variables from the talk so far and stores them. Never throws: a failure is logged, and `conclude` extracts again. */
export async function extractVariables(context: ConversationContext, node: TalkNode): Promise<void> {
  const { extraction_prompt: prompt, extraction_variables: variables } = node.data;
  const answer = await context.dependencies.model
    .complete({
      model: context.setup.model,
      system: prompt ? `${instruction}\n\n${renderLenient(prompt, buildTemplateScope(context))}` : instruction,
      messages: [{ role: 'user', content: recentTranscript(context) }],
      output: toOutputFormat(buildVariablesSchema(variables)),
      timeout_seconds: timeoutSeconds,
      seed: context.setup.seed,
    })
    .catch((error: Error) => ({ failure: 'provider_failed', message: error.name }));
  const { state } = context.record;
  if ('failure' in answer)
    return context.record.write(
      {},
      { events: [{ type: 'extraction_failed', nodeId: node.id, payload: { failure: answer.failure, message: answer.message } }] },
    );
  const values = omitNullValues(answer.json);
  context.record.write(
    { extracted: { ...state.extracted, ...values }, ...countUsage(state, answer) },
    { events: [...(answer.fallbacks ?? []).map(toFallbackEvent), { type: 'extracted', nodeId: node.id, payload: { variables: values } }] },
  );
}

/** Whether the prompt or an edge condition of the current node reads one of the variables. */
export function promptsReadVariables(context: ConversationContext, variables: readonly ExtractionVariable[]): boolean {
  const { id, data } = getNode(context);
  const { globalPrompt } = context.setup.definition;
  const texts = [
    data.prompt,
    ...(data.add_global_prompt && globalPrompt !== null ? [globalPrompt] : []),
    ...listEdgesFrom(context, id).map((edge) => edge.data.condition),
  ];
  const read = new Set(texts.flatMap(findTemplateRoots));
  return read.has('gathered_context') || variables.some(({ name }) => read.has(name));
}
