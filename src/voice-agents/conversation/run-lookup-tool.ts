import { isServiceError } from '../../library/errors.ts';
import type { Json } from '../../library/json/json.ts';
import type { ToolCall } from '../../providers/language-model/contract.ts';
import type { Retrieved, ToolMock } from './contract.ts';
import { isRepeatable, requestErrorMessage, toToolAnswer, buildToolRequest } from './http-tool.ts';
import type { ToolOffer } from './tool-offers.ts';
import { buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import { parseToolArguments } from './tool-arguments.ts';

/** The agent answers without it rather than leave a silence. */
const retrievalTimeoutMs = 1_500;
/** Of what was found; receipts name the passages, and an event that is too long is cut as a whole. */
const maxLoggedCharacters = 2_000;

export interface ToolResult {
  /** For the model. */
  answer: Json;
  /** For the log, beside the answer or in its place. */
  logDetails: Record<string, Json>;
}

const toProblemResult = (error: string, logDetails: ToolResult['logDetails'] = {}): ToolResult => ({ answer: { error }, logDetails });

/**
 * What a call of a tool that finds something out gives; never throws. `isRepeated`: a crash came between the intent and the answer, so that
 * nobody can say whether it took effect.
 */
export async function runLookupTool(
  context: ConversationContext,
  call: ToolCall,
  offers: ToolOffer[],
  isRepeated: boolean,
): Promise<ToolResult> {
  const offer = offers.find(({ tool }) => tool.name === call.name);
  if (!offer) return toProblemResult(`There is no tool "${call.name}" here; there are: ${offers.map(({ tool }) => tool.name).join(', ')}`);
  const read = parseToolArguments(call.arguments, offer.tool.parameters);
  if ('problem' in read) return toProblemResult(read.problem);
  const mock = context.setup.tools.live ? undefined : context.setup.tools.mocks.find(({ name }) => name === call.name);
  if (mock) return toMockResult(context, mock);
  try {
    if (offer.kind === 'retrieve') return await searchDocuments(context, String(read.value['query'] ?? ''), offer.documentUuids);
    if (offer.kind === 'http') return await callHttpTool(context, call, offer.http, read.value, isRepeated);
  } catch (error) {
    return toProblemResult(requestErrorMessage(error) ?? `The tool failed: ${(error as Error).name}`);
  }
  return toProblemResult(`"${call.name}" finds nothing out`);
}

async function toMockResult(context: ConversationContext, { response, error, delay_ms: delay }: ToolMock): Promise<ToolResult> {
  if (delay !== undefined && delay > 0) await context.dependencies.sleep(delay);
  return { answer: error === undefined ? (response ?? null) : { error }, logDetails: { is_mock: true } };
}

type HttpTool = Extract<ToolOffer, { kind: 'http' }>['http'];

async function callHttpTool(
  context: ConversationContext,
  call: ToolCall,
  http: HttpTool,
  values: Record<string, Json>,
  isRepeated: boolean,
): Promise<ToolResult> {
  if (!context.setup.tools.live) return { answer: { status: 'not called in a test' }, logDetails: { is_mock: true } };
  if (isRepeated && !isRepeatable(http))
    return toProblemResult('The service stopped during this call, and nobody can say whether it took effect. Do not call it again');
  const opened = await context.dependencies.openSecrets(http);
  const request = await buildToolRequest(
    opened,
    values,
    buildTemplateScope(context),
    `${context.setup.key}:${call.id}`,
    context.dependencies.now(),
  );
  return { answer: toToolAnswer(await context.dependencies.sendHttp(request)), logDetails: {} };
}

/** Why nothing can be looked up is for the log: the model would tell it the person on the line. */
async function searchDocuments(context: ConversationContext, query: string, documentUuids: string[] | null): Promise<ToolResult> {
  const controller = new AbortController();
  const found = context.dependencies.retrieve!(query, documentUuids, controller.signal).then(toSearchResult, toFailedSearch);
  const first = await Promise.race([found, context.dependencies.sleep(retrievalTimeoutMs).then(() => null)]);
  if (first) return first;
  // Whoever is late is not waited for, and may fail unheard.
  controller.abort();
  return toProblemResult('Nothing was found in time; answer without it', {
    reason: `The search took longer than ${retrievalTimeoutMs} ms`,
  });
}

const toSearchResult = ({ text, receipts }: Retrieved): ToolResult => ({
  answer: text,
  logDetails: { receipts, ...(text.length > maxLoggedCharacters && { answer: `${text.slice(0, maxLoggedCharacters).toWellFormed()}...` }) },
});

const toFailedSearch = (error: unknown): ToolResult =>
  toProblemResult('The documents cannot be looked into now; answer without them', {
    reason: isServiceError(error) ? error.message : `The search failed: ${(error as Error).name}`,
  });
