import { createExchange, type Unreachable } from './exchange.ts';
import { blockedRequestReason, type UrlPolicy } from './url-policy.ts';

export interface GuardedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
  timeout_seconds: number;
}

export type GuardedResponse =
  | { status: number; headers: Record<string, string>; body: string; is_cut: boolean }
  | { failure: 'network' | 'refused'; message: string };

const maxBodyBytes = 1024 * 1024;

/**
 * Calls an address from a customer. Follows at most three redirects and checks each address; sends neither the body nor headers that may
 * be credentials to another origin; reads at most 1 MiB. Never throws. `refused`: the address may not be called.
 */
export async function sendGuardedRequest({ timeout_seconds, ...request }: GuardedRequest, policy: UrlPolicy): Promise<GuardedResponse> {
  const exchange = createExchange({
    name: 'The address',
    timeoutMs: timeout_seconds * 1000,
    maxBodyBytes,
    overflow: 'cut',
    maxRedirects: 3,
    blockedReason: (url) => blockedRequestReason(url, policy),
  });
  const answer = await exchange.send(request);
  if ('unreachable' in answer) return toFailure(answer, timeout_seconds);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'set-cookie'));
  return { status: answer.status, headers, body: answer.text, is_cut: answer.isCut };
}

function toFailure({ unreachable, message, detail }: Unreachable, timeoutSeconds: number): GuardedResponse {
  switch (unreachable) {
    case 'blocked':
      return { failure: 'refused', message: `The address may not be called: ${message}` };
    case 'body_redirected':
      return { failure: 'refused', message };
    case 'timeout':
      return { failure: 'network', message: `No answer within ${timeoutSeconds} seconds` };
    case 'network':
      return { failure: 'network', message: `The address cannot be reached: ${detail}` };
    default:
      return { failure: 'network', message };
  }
}
