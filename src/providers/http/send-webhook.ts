import { parseRetryAfter } from '../../library/time/retry-after.ts';
import { createExchange } from './exchange.ts';
import { blockedRequestReason, type UrlPolicy } from './url-policy.ts';

/** How a receiver answered a webhook, or why it did not. `body`: the first KiB of the answer. */
export type WebhookAnswer = { status: number; body: string; retryAfterMs: number | null } | { failure: string };

const timeoutMs = 15_000;
const maxBodyBytes = 1024;

/**
 * Posts a webhook to an address of a customer. Refuses private addresses, follows no redirect, and waits for 15 seconds at most. Never throws.
 * `now` in epoch ms.
 */
export async function sendWebhook(
  url: string,
  headers: Record<string, string>,
  body: string,
  { policy, now }: { policy: UrlPolicy; now: number },
): Promise<WebhookAnswer> {
  const exchange = createExchange({
    name: 'The receiver',
    timeoutMs,
    maxBodyBytes,
    overflow: 'cut',
    blockedReason: (address) => blockedRequestReason(address, policy),
  });
  const answer = await exchange.send({ method: 'POST', url, headers, body });
  if ('unreachable' in answer)
    return { failure: answer.unreachable === 'blocked' ? `The address may not be called: ${answer.message}` : answer.message };
  const seconds = parseRetryAfter(answer.headers.get('retry-after') ?? undefined, now);
  return { status: answer.status, body: answer.text, retryAfterMs: seconds === undefined ? null : seconds * 1000 };
}
