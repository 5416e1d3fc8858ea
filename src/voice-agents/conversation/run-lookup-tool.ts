import { isServiceError } from '../../library/errors.ts';
import type { Json } from '../../library/json/json.ts';
import type { ToolCall } from '../../providers/language-model/contract.ts';
import type { Retrieved, ToolMock } from './contract.ts';
import { isRepeatable, requestErrorMessage, toToolAnswer, buildToolRequest } from './http-tool.ts';
import type { ToolOffer } from './tool-offers.ts';
import { buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import { parseToolArguments } from './tool-arguments.ts';

/** After this time the agent answers without the documents, to avoid a silence. */
const retrievalTimeoutMs = 1_500;
/** The maximum of found text in the log. The receipts name the passages; a longer event would lose them, because it is cut as a whole. */
const maxLoggedCharacters = 2_000;

export interface ToolResult {
  /** The answer for the model. */
  answer: Json;
  /** Fields for the log, beside the answer or replacing it. */
  logDetails: Record<string, Json>;
}

const toProblemResult = (error: string, logDetails: ToolResult['logDetails'] = {}): ToolResult => ({ answer: { error }, logDetails });

/**
 * Runs a tool call that fetches information, and returns its answer; never throws. `isRepeated`: the service stopped between the intent and the
 * answer, so that nobody knows whether the call took effect.
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

/** Searches the documents. Why a search fails is logged only: the model would repeat it to the person. */
async function searchDocuments(context: ConversationContext, query: string, documentUuids: string[] | null): Promise<ToolResult> {
  const controller = new AbortController();
  const found = context.dependencies.retrieve!(query, documentUuids, controller.signal).then(toSearchResult, toFailedSearch);
  const first = await Promise.race([found, context.dependencies.sleep(retrievalTimeoutMs).then(() => null)]);
  if (first) return first;
  // A late search is aborted, and its failure is ignored.
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
