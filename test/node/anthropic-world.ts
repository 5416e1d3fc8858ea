import { onTestFinished } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import type { UrlPolicy } from '../../src/providers/http/url-policy.ts';
import type { CompletionRequest, ConversationDelta, ConversationRequest } from '../../src/providers/language-model/contract.ts';
import { createEndpointModel } from '../../src/providers/language-model/language-model.ts';

const key = 'sk-ant-canary-key-4711';
export const sse = { 'content-type': 'text/event-stream' };

interface Options {
  apiKey?: string;
  baseUrl?: string;
  model?: string;
  runtime?: Partial<Runtime>;
  urlPolicy?: UrlPolicy;
}

/** The adapter of Anthropic against the simulated vendor, with a clock that only its own waits move. */
export async function startAnthropic({ apiKey = key, baseUrl, model = 'claude-haiku-4-5', runtime, urlPolicy }: Options = {}) {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const waits: number[] = [];
  const names = { key: 'api_key', address: 'base_url', model: 'model' };
  const endpoint = { provider: 'anthropic' as const, apiKey, baseUrl: baseUrl ?? `${url}/anthropic`, model, names, urlPolicy };
  const languageModel = createEndpointModel(() => endpoint, {
    fetch: (input, init) => fetch(input, init),
    sleep: async (milliseconds) => void waits.push(milliseconds),
    random: () => 0,
    now: () => waits.reduce((sum, wait) => sum + wait, 0),
    ...runtime,
  });
  const ask = (text: string, more: Partial<CompletionRequest> = {}) =>
    languageModel.complete({ messages: [{ role: 'user', content: text }], ...more });
  const stream = (text: string, more: Partial<ConversationRequest> = {}, signal = new AbortController().signal) =>
    languageModel.converse({ system: 'Ask which day suits them.', messages: [{ role: 'user', content: text }], ...more }, signal);
  const talk = async (...parameters: Parameters<typeof stream>): Promise<ConversationDelta[]> => collect(stream(...parameters));
  const plan = async (fault: object) => {
    const { status } = await fetch(`${url}/__sim/faults`, {
      method: 'POST',
      body: JSON.stringify({ provider: 'anthropic', ...fault }),
    });
    if (status !== 201) throw new Error(`the fault was refused: ${status}`);
  };
  const requests = async () => ((await (await fetch(`${url}/__sim/requests?provider=anthropic`)).json()) as { requests: any[] }).requests;
  return { ask, stream, talk, plan, requests, waits, url };
}

export async function collect(stream: AsyncIterable<ConversationDelta>): Promise<ConversationDelta[]> {
  const deltas: ConversationDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

export const textOf = (deltas: readonly ConversationDelta[]): string =>
  deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');

/** A refusal of the vendor, whose message repeats the key and the prompt. */
export const refusal = (type: string, message = '') => ({
  type: 'error',
  error: { type, message: `${message} ${key} a canary prompt` },
});
