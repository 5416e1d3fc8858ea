import { validateContext } from '../../expressions/schemas/context-schema.ts';
import { isRecord, parseJson, type Json } from '../../library/json/json.ts';

const maxListedProblems = 5;

/** Parses the arguments of a tool call by `schema`. A `problem` is a sentence for the model. */
export function parseToolArguments(text: string, schema: Record<string, unknown>): { value: Record<string, Json> } | { problem: string } {
  const value = parseOrUndefined(text);
  if (!isRecord(value)) return { problem: 'The arguments are no JSON object; call the tool again with one' };
  const problems = validateContext(schema, value, []).map(({ loc, msg }) => (loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg));
  if (problems.length > 0)
    return { problem: `The arguments do not fit: ${problems.slice(0, maxListedProblems).join('; ')}; call the tool again` };
  return { value: value as Record<string, Json> };
}

/** Models send an empty text for a tool without parameters. */
function parseOrUndefined(text: string): Json | undefined {
  if (text.trim() === '') return {};
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
