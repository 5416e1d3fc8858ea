import type { LanguageModelSettings, OutputFormat } from '../../../providers/language-model/contract.ts';
import { createLanguageModel } from '../../../providers/language-model/language-model.ts';
import { validateContext } from '../../../expressions/schemas/context-schema.ts';
import type { TextAnswer, TextRequest } from '../../nodes/contract.ts';

/** Asks the language model; an answer for `output_schema` is given only when it fits. */
export async function completeText(settings: LanguageModelSettings, request: TextRequest): Promise<TextAnswer> {
  const answer = await createLanguageModel(settings).complete({
    model: request.model ?? undefined,
    system: request.system ?? undefined,
    messages: [{ role: 'user', content: request.prompt }],
    output: request.output_schema ? toOutputFormat(request.output_schema) : undefined,
  });
  if ('failure' in answer) return answer;
  return { result: answer.json ?? answer.text, model: answer.model, usage: answer.usage };
}

const maxShownProblems = 3;

const toOutputFormat = (schema: Record<string, unknown>): OutputFormat => ({
  schema,
  problemOf: (answer) => {
    const problems = validateContext(schema, answer, []).map(({ loc, msg }) => (loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg));
    return problems.length === 0 ? null : problems.slice(0, maxShownProblems).join('; ');
  },
});
