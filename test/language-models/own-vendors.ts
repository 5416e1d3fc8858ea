import { expect } from 'vitest';
import { anthropic } from '../../simulators/anthropic.ts';
import { openai } from '../../simulators/openai.ts';
import type { RequestRecord } from '../../simulators/request-record.ts';
import { stubOutsideServices } from '../support/calls.ts';
import type { Client } from '../support/organization.ts';

export const path = '/language-models';
const claudeUrl = 'https://claude.example.com';
const gptUrl = 'https://gpt.example.com/v1';
export const claudeKey = 'sk-ant-canary-of-claude-4711';
export const gptKey = 'sk-canary-of-gpt-0815';

interface AskedVendor {
  vendor: 'claude' | 'gpt';
  url: string;
  headers: Headers;
  body: Record<string, any>;
}
type Answer = (asked: AskedVendor, request: Request) => Response | undefined | Promise<Response | undefined>;

/**
 * The simulated vendors at addresses of an organization, beside the service's own model. `answer` answers in their place, or nothing. Keeps
 * what each was asked.
 */
export function stubVendors(answer: Answer = () => undefined) {
  const vendors = [
    { vendor: 'claude' as const, url: claudeUrl, routes: anthropic },
    { vendor: 'gpt' as const, url: gptUrl.replace('/v1', ''), routes: openai },
  ].map(({ routes, ...one }) => ({
    ...one,
    routes: routes.createRoutes({ ledgerFile: undefined, signal: new AbortController().signal, ask: async () => undefined }),
  }));
  const asked: AskedVendor[] = [];
  const { asked: askedOfService } = stubOutsideServices({
    other: async (request) => {
      const found = vendors.find(({ url }) => request.url.startsWith(url));
      if (!found) return undefined;
      const one = {
        vendor: found.vendor,
        url: request.url,
        headers: request.headers,
        body: (await request.clone().json()) as AskedVendor['body'],
      };
      asked.push(one);
      const record = { id: asked.length, received_at: new Date().toISOString() } as RequestRecord;
      return (await answer(one, request)) ?? found.routes.fetch(request, { record, dropAnswer: () => {} });
    },
  });
  // Documents of other tests may still be embedded meanwhile, by the service's model as ever.
  return { asked, service: () => askedOfService.filter(({ messages }) => messages !== undefined) };
}

export const claude = (more: object = {}) => ({
  name: 'Claude',
  provider: 'anthropic',
  base_url: claudeUrl,
  model: 'claude-haiku-4-5',
  api_key: claudeKey,
  purposes: { talk: 1, extraction: 1 },
  ...more,
});

export const gpt = (more: object = {}) => ({
  name: 'GPT',
  provider: 'openai',
  base_url: gptUrl,
  model: 'gpt-6-luna',
  api_key: gptKey,
  purposes: { talk: 1, extraction: 1 },
  ...more,
});

export async function createModel(client: Client, body: object): Promise<any> {
  const made = await client.post(path, body);
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return made.body;
}

export const anthropicError = (status: number, type: string, message = ''): Response =>
  Response.json({ type: 'error', error: { type, message: `${message} ${claudeKey}` } }, { status });
