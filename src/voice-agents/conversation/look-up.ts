import { isServiceError } from '../../library/errors.ts';
import type { Json } from '../../library/json.ts';
import type { ToolCall } from '../../providers/language-model/language-model.ts';
import type { Retrieved, ToolMock } from './contract.ts';
import { isRepeatable, requestFault, toolAnswer, toolRequest } from './http-tool.ts';
import type { Offer } from './offers.ts';
import { scopeOf, type Talk } from './talk.ts';
import { readArguments } from './tool-arguments.ts';

/** The agent answers without it rather than leave a silence. */
const retrievalMs = 1_500;
/** Of what was found; receipts name the passages, and an event that is too long is cut as a whole. */
const loggedCharacters = 2_000;

export interface Finding {
  /** For the model. */
  answer: Json;
  /** For the log, beside the answer or in its place. */
  more: Record<string, Json>;
}

const problem = (error: string, more: Finding['more'] = {}): Finding => ({ answer: { error }, more });

/**
 * What a call of a tool that finds something out gives; never throws. `isRepeated`: a crash came between the intent and the answer, so that
 * nobody can say whether it took effect.
 */
export async function lookUp(talk: Talk, call: ToolCall, offers: Offer[], isRepeated: boolean): Promise<Finding> {
  const offer = offers.find(({ tool }) => tool.name === call.name);
  if (!offer) return problem(`There is no tool "${call.name}" here; there are: ${offers.map(({ tool }) => tool.name).join(', ')}`);
  const read = readArguments(call.arguments, offer.tool.parameters);
  if ('problem' in read) return problem(read.problem);
  const mock = talk.setup.tools.live ? undefined : talk.setup.tools.mocks.find(({ name }) => name === call.name);
  if (mock) return mocked(talk, mock);
  try {
    if (offer.kind === 'retrieve') return await retrieved(talk, String(read.value['query'] ?? ''), offer.documentUuids);
    if (offer.kind === 'http') return await called(talk, call, offer.http, read.value, isRepeated);
  } catch (error) {
    return problem(requestFault(error) ?? `The tool failed: ${(error as Error).name}`);
  }
  return problem(`"${call.name}" finds nothing out`);
}

async function mocked(talk: Talk, { response, error, delay_ms: delay }: ToolMock): Promise<Finding> {
  if (delay !== undefined && delay > 0) await talk.world.sleep(delay);
  return { answer: error === undefined ? (response ?? null) : { error }, more: { is_mock: true } };
}

type Http = Extract<Offer, { kind: 'http' }>['http'];

async function called(talk: Talk, call: ToolCall, http: Http, values: Record<string, Json>, isRepeated: boolean): Promise<Finding> {
  if (!talk.setup.tools.live) return { answer: { status: 'not called in a test' }, more: { is_mock: true } };
  if (isRepeated && !isRepeatable(http))
    return problem('The service stopped during this call, and nobody can say whether it took effect. Do not call it again');
  const opened = await talk.world.open(http);
  const request = await toolRequest(opened, values, scopeOf(talk), `${talk.setup.key}:${call.id}`, talk.world.now());
  return { answer: toolAnswer(await talk.world.sendHttp(request)), more: {} };
}

/** Why nothing can be looked up is for the log: the model would tell it the person on the line. */
async function retrieved(talk: Talk, query: string, documentUuids: string[] | null): Promise<Finding> {
  const controller = new AbortController();
  const found = talk.world.retrieve!(query, documentUuids, controller.signal).then(inLog, failedLookUp);
  const first = await Promise.race([found, talk.world.sleep(retrievalMs).then(() => null)]);
  if (first) return first;
  // Whoever is late is not waited for, and may fail unheard.
  controller.abort();
  return problem('Nothing was found in time; answer without it', { reason: `The search took longer than ${retrievalMs} ms` });
}

const inLog = ({ text, receipts }: Retrieved): Finding => ({
  answer: text,
  more: { receipts, ...(text.length > loggedCharacters && { answer: `${text.slice(0, loggedCharacters).toWellFormed()}...` }) },
});

const failedLookUp = (error: unknown): Finding =>
  problem('The documents cannot be looked into now; answer without them', {
    reason: isServiceError(error) ? error.message : `The search failed: ${(error as Error).name}`,
  });
