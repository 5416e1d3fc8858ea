import { languageModel, type ModelSettings, type OutputFormat } from '../../providers/language-model/language-model.ts';
import { validateContext } from '../context-schema.ts';
import type { TextAnswer, TextRequest } from '../nodes/contract.ts';

/** Asks the language model; an answer for `output_schema` is given only when it fits. */
export async function completeText(settings: ModelSettings, request: TextRequest): Promise<TextAnswer> {
  const answer = await languageModel(settings).complete({
    model: request.model ?? undefined,
    system: request.system ?? undefined,
    messages: [{ role: 'user', content: request.prompt }],
    output: request.output_schema ? outputFormat(request.output_schema) : undefined,
  });
  if ('failure' in answer) return answer;
  return { result: answer.json ?? answer.text, model: answer.model, usage: answer.usage };
}

const toldProblems = 3;

const outputFormat = (schema: Record<string, unknown>): OutputFormat => ({
  schema,
  problemOf: (answer) => {
    const problems = validateContext(schema, answer, []).map(({ loc, msg }) => (loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg));
    return problems.length === 0 ? null : problems.slice(0, toldProblems).join('; ');
  },
});
