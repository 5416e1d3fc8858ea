import { validateContext } from '../../automation-workflows/context-schema.ts';
import { rootsReadBy } from '../../automation-workflows/template-roots.ts';
import { isRecord, type Json } from '../../library/json.ts';
import type { OutputFormat } from '../../providers/language-model/language-model.ts';
import type { TalkNode } from '../definition/definition.ts';
import type { ExtractionVariable } from '../definition/schemas.ts';
import { addUsage } from './record.ts';
import { edgesFrom, nodeOf, renderAnyway, scopeOf, type Talk } from './talk.ts';
import { transcriptOf, transcriptText } from './transcript.ts';

const timeoutSeconds = 10;
const maximumTranscript = 100_000;

export const formatOf = (schema: Record<string, unknown>): OutputFormat => ({
  schema,
  problemOf: (answer) => validateContext(schema, answer, []).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)[0] ?? null,
});

export const closedObject = (properties: Record<string, unknown>): Record<string, unknown> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** What was not said is null. */
export const variablesSchema = (variables: readonly ExtractionVariable[]): Record<string, unknown> =>
  closedObject(
    Object.fromEntries(variables.map(({ name, type, prompt }) => [name, { type: [type, 'null'], ...(prompt && { description: prompt }) }])),
  );

export const saidValues = (answer: unknown): Record<string, Json> =>
  isRecord(answer) ? (Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null)) as Record<string, Json>) : {};

/** The newest part of what was said, for the model to read. */
export const transcriptFor = ({ record }: Talk): string => transcriptText(transcriptOf(record.messages)).slice(-maximumTranscript);

const instruction = 'Read this part of a conversation and take from it what is asked for. What was not said is null; guess nothing.';

/** Takes a node's variables from what was said so far. Never throws; what it could not find the end of the call finds. */
export async function extract(talk: Talk, node: TalkNode): Promise<void> {
  const { extraction_prompt: prompt, extraction_variables: variables } = node.data;
  const answer = await talk.world.model
    .complete({
      model: talk.setup.model,
      system: prompt ? `${instruction}\n\n${renderAnyway(prompt, scopeOf(talk))}` : instruction,
      messages: [{ role: 'user', content: transcriptFor(talk) }],
      output: formatOf(variablesSchema(variables)),
      timeout_seconds: timeoutSeconds,
      seed: talk.setup.seed,
    })
    .catch((error: Error) => ({ failure: 'provider_failed', message: error.name }));
  const { state } = talk.record;
  if ('failure' in answer)
    return talk.record.write(
      {},
      { events: [{ type: 'extraction_failed', nodeId: node.id, payload: { failure: answer.failure, message: answer.message } }] },
    );
  const values = saidValues(answer.json);
  talk.record.write(
    { extracted: { ...state.extracted, ...values }, usage: addUsage(state.usage, answer.usage) },
    { events: [{ type: 'extracted', nodeId: node.id, payload: { variables: values } }] },
  );
}

/** Whether what the agent is told where it stands depends on one of the variables. */
export function readsVariables(talk: Talk, variables: readonly ExtractionVariable[]): boolean {
  const { id, data } = nodeOf(talk);
  const { globalPrompt } = talk.setup.definition;
  const texts = [
    data.prompt,
    ...(data.add_global_prompt && globalPrompt !== null ? [globalPrompt] : []),
    ...edgesFrom(talk, id).map((edge) => edge.data.condition),
  ];
  const read = new Set(texts.flatMap(rootsReadBy));
  return read.has('gathered_context') || variables.some(({ name }) => read.has(name));
}
