import { CloudflareError } from './cloudflare.ts';

const advices: [pattern: RegExp, advice: string][] = [
  [
    /\[code:? (10000|9109|9106|10001)\]|Authentication error|Invalid API Token|not authenticated|not logged in|Unable to authenticate/i,
    'The login or token is not accepted or may not do this. Run "npx wrangler login", or give CLOUDFLARE_API_TOKEN a token with edit rights on Workers Scripts, D1, R2, Queues and Vectorize.',
  ],
  [/\[code:? 10042\]|enable R2/i, 'Enable R2 once for the account: dash.cloudflare.com, R2.'],
  [
    /paid plan|upgrade your plan|free plan|\[code:? 100129\]|cpu_ms|cpu limits/i,
    'This needs the Workers Paid plan: dash.cloudflare.com, Workers & Pages, Plans.',
  ],
  [
    /\[code:? 10063\]|workers\.dev subdomain/i,
    "Choose the account's workers.dev subdomain once (dash.cloudflare.com, Workers & Pages), or give --domain.",
  ],
  [
    /\[code:? (100117|10082)\]|custom domain|\bzone\b/i,
    'The domain must lie in a zone of this account and have no other record; see dash.cloudflare.com, Websites.',
  ],
  [/\[code:? 971\]|rate.limited/i, 'Cloudflare asks to wait; try again in five minutes.'],
];

/** What to do about a failed step: the next action, then that the same command goes on. */
export function adviceFor(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // Wrangler prints much before its error, the names of all bindings among it.
  const text = message.slice(Math.max(0, message.indexOf('[ERROR]')));
  const found = advices.find(([pattern]) => pattern.test(text))?.[1];
  const fallback = error instanceof CloudflareError ? 'Mend what Cloudflare names.' : 'Mend what is named above.';
  return `${found ?? fallback} Then run the same command again: it goes on where this one stopped.`;
}
