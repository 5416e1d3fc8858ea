import { setTimeout as sleep } from 'node:timers/promises';
import { OpenAiError } from './errors.ts';

const standardSlowMs = 3_000;

/**
 * Does what a mark in one of `texts` orders: `SIM_ERROR_429` (rate limit), `SIM_ERROR_429_QUOTA` (no credit left), `SIM_ERROR_500`,
 * `SIM_SLOW` (3 s) or `SIM_SLOW_{milliseconds}`.
 */
export async function applyTestMarkers(texts: readonly string[], model: string): Promise<void> {
  const text = texts.join('\n');
  const slow = /SIM_SLOW(?:_(\d{1,6}))?/.exec(text);
  if (slow) await sleep(slow[1] === undefined ? standardSlowMs : Number(slow[1]));
  if (text.includes('SIM_ERROR_429_QUOTA')) throw quotaExceeded();
  if (text.includes('SIM_ERROR_429')) throw rateLimited(model);
  if (text.includes('SIM_ERROR_500'))
    throw new OpenAiError(500, 'The server had an error while processing your request. Sorry about that!', { type: 'server_error' });
}

/** Must not be retried, although the status is that of a rate limit. */
const quotaExceeded = () =>
  new OpenAiError(
    429,
    'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
    { type: 'insufficient_quota', code: 'insufficient_quota' },
  );

const rateLimited = (model: string) =>
  new OpenAiError(
    429,
    `Rate limit reached for ${model} in organization org-simulated on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 120ms. Visit https://platform.openai.com/account/rate-limits to learn more.`,
    {
      type: 'requests',
      code: 'rate_limit_exceeded',
      headers: {
        'retry-after-ms': '120',
        'retry-after': '1',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '120ms',
      },
    },
  );
