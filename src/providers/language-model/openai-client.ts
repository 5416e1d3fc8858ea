import { OpenAI } from 'openai';
import { boundedFetch } from '../http/exchange.ts';
import type { Runtime } from '../http/runtime.ts';
import { blockedRequestReason } from '../http/url-policy.ts';
import type { ModelEndpoint } from './contract.ts';

/** The maximum of one answer: 2,048 vectors in base64 have 17 MiB. */
const maxBodyBytes = 24 * 1024 * 1024;

/** An OpenAI client without its own retries, which would repeat requests that cannot succeed. */
export const createOpenAiClient = (
  { apiKey, baseUrl, urlPolicy }: Pick<ModelEndpoint, 'apiKey' | 'baseUrl' | 'urlPolicy'>,
  runtime: Pick<Runtime, 'fetch'>,
): OpenAI =>
  new OpenAI({
    apiKey,
    baseURL: baseUrl,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: boundedFetch(runtime, maxBodyBytes, urlPolicy && ((url) => blockedRequestReason(url, urlPolicy))),
  });
