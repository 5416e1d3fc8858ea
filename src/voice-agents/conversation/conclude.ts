import { isRecord } from '../../library/json/json.ts';
import type { CompletionFailure } from '../../providers/language-model/contract.ts';
import type { ExtractionVariable } from '../definition/schemas.ts';
import type { Conclusion, ConversationState } from './contract.ts';
import { strictObjectSchema, toOutputFormat, omitNullValues, recentTranscript, buildVariablesSchema } from './extraction.ts';
import { findDoNotCallRequest } from './do-not-call-request.ts';
import { countUsage, toFallbackEvent, type NewEvent } from './record.ts';
import type { ConversationContext } from './conversation-context.ts';

const timeoutSeconds = 30;
const maxTags = 10;

/** The outcomes that the model may choose from for an agent without disposition codes of its own: `{ code: meaning }`. */
export const defaultDispositions: Record<string, string> = {
  not_interested: 'They declined what was offered',
  interested: 'They are interested, or agreed to what was offered',
  callback_requested: 'They want to be called again at another time',
  wrong_person: 'Another person than the one who was asked for',
  resolved: 'They got what they wanted to know or to have done',
  unclear: 'Nothing of this, or it is not clear',
};

/** Every list has this code: nobody who asks not to be called may be called again. */
const doNotCallMeaning = 'They ask not to be called again';
const doNotCallQuote = 'The sentence in which the person asks not to be called again, copied word for word; null unless they ask for that';

const emptyConclusion: Conclusion = { disposition: null, tags: [], summary: null, sentiment: null };

const instruction =
  'Read this conversation and say what it led to. The summary has one to three sentences. Tags are a few short words for what it was about. What was not said is null; guess nothing.';

/**
 * Asks the model which disposition, tags, summary and sentiment a conversation has, and once more for the variables of the visited nodes. The
 * answer is stored: a second call returns the same. A retryable failure is returned, so that the caller can try again later; with `exhaustFailedMessages` an empty
 * conclusion is stored instead.
 */
export async function conclude(context: ConversationContext, giveUp: boolean): Promise<Conclusion | CompletionFailure> {
  await Promise.allSettled(context.background);
  const { conclusion, nodesVisited } = context.record.state;
  if (conclusion) return conclusion;
  if (!context.record.messages.some(({ role }) => role === 'user')) return saveConclusion(context, emptyConclusion);
  const variables = listVisitedVariables(context, nodesVisited);
  const schema = buildConclusionSchema(effectiveDispositions(context), variables);
  const answer = await context.dependencies.model.complete({
    model: context.setup.model,
    system: instruction,
    messages: [{ role: 'user', content: recentTranscript(context) }],
    output: toOutputFormat(schema),
    timeout_seconds: timeoutSeconds,
    seed: context.setup.seed,
  });
  if ('failure' in answer) {
    context.record.write({}, { events: [{ type: 'conclusion_failed', payload: { failure: answer.failure, message: answer.message } }] });
    return answer.retryable && !giveUp ? answer : saveConclusion(context, emptyConclusion);
  }
  const { state } = context.record;
  const {
    disposition,
    tags,
    summary,
    sentiment,
    do_not_call_quote: quote,
    extracted_variables: extracted,
  } = answer.json as unknown as ConclusionAnswer;
  const doNotCallRequest = findDoNotCallRequest(quote, context.record.messages);
  return saveConclusion(
    context,
    { disposition, tags: tags.slice(0, maxTags), summary, sentiment, ...(doNotCallRequest && { doNotCallRequest }) },
    { extracted: { ...state.extracted, ...omitNullValues(extracted) }, ...countUsage(state, answer) },
    (answer.fallbacks ?? []).map(toFallbackEvent),
  );
}

interface ConclusionAnswer extends Omit<Conclusion, 'doNotCallRequest'> {
  do_not_call_quote: string | null;
  extracted_variables?: unknown;
}

function saveConclusion(
  context: ConversationContext,
  conclusion: Conclusion,
  learned: Partial<ConversationState> = {},
  events: NewEvent[] = [],
): Conclusion {
  const { doNotCallRequest: request, ...result } = conclusion;
  const payload = { ...result, ...(request && { do_not_call_request: request }) };
  context.record.write({ ...learned, conclusion }, { events: [...events, { type: 'concluded', payload }] });
  return conclusion;
}

const effectiveDispositions = ({ setup }: ConversationContext): Record<string, string> => {
  const own = Object.keys(setup.dispositionCodes).length > 0 ? setup.dispositionCodes : defaultDispositions;
  return { ...own, do_not_call: own['do_not_call'] || doNotCallMeaning };
};

/** The variables of the visited nodes that extract, each name once. */
function listVisitedVariables({ setup }: ConversationContext, nodesVisited: readonly string[]): ExtractionVariable[] {
  const visited = nodesVisited.map((id) => setup.definition.talkNodes.get(id)).filter((node) => node?.data.extraction_enabled);
  return [...new Map(visited.flatMap((node) => node!.data.extraction_variables).map((variable) => [variable.name, variable])).values()];
}

function buildConclusionSchema(codes: Record<string, string>, variables: ExtractionVariable[]): Record<string, unknown> {
  const meanings = Object.entries(codes).map(([code, meaning]) => (meaning ? `${code}: ${meaning}` : code));
  return strictObjectSchema({
    disposition: { type: 'string', enum: Object.keys(codes), description: meanings.join('. ') },
    summary: { type: 'string' },
    sentiment: { type: 'string', enum: ['positive', 'neutral', 'negative'] },
    tags: { type: 'array', items: { type: 'string' } },
    do_not_call_quote: { type: ['string', 'null'], description: doNotCallQuote },
    ...(variables.length > 0 && { extracted_variables: buildVariablesSchema(variables) }),
  });
}

/** An agent's `call_disposition_codes` as `{ code: meaning }`. A meaning that is no string becomes ''; anything but an object gives no codes. */
export const readDispositionCodes = (codes: unknown): Record<string, string> =>
  isRecord(codes)
    ? Object.fromEntries(Object.entries(codes).map(([code, meaning]) => [code, typeof meaning === 'string' ? meaning : '']))
    : {};
