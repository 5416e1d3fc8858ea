import { isNonSecretHeader } from '../../library/security/secret-names.ts';
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

const maxRedirects = 3;
const maxBodyBytes = 1024 * 1024;

/**
 * Calls an address that a customer named. Follows at most three redirects and checks each; sends no body to another origin, nor
 * a header that may be a credential; reads at most 1 MiB of the answer.
 */
export async function sendGuardedRequest(request: GuardedRequest, rules: UrlPolicy): Promise<GuardedResponse> {
  const signal = AbortSignal.timeout(request.timeout_seconds * 1000);
  let { method, headers, body } = request;
  let url = parseUrl(request.url);
  for (let redirects = 0; ; redirects++) {
    const refused = url ? await blockedRequestReason(url, rules) : 'it is not a URL';
    if (!url || refused) return { failure: 'refused', message: `The address may not be called: ${refused}` };
    try {
      const response = await fetch(url, { method, headers, body, redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return await readResponse(response);
      await response.body?.cancel();
      if (redirects === maxRedirects) return { failure: 'network', message: `The address redirects more than ${maxRedirects} times` };
      const next = parseUrl(location, url);
      if (response.status === 303 || (response.status < 303 && method === 'POST')) {
        method = 'GET';
        body = null;
      }
      if (next && next.origin !== url.origin) {
        if (body !== null) return { failure: 'refused', message: crossOriginRedirectMessage(method, next) };
        headers = Object.fromEntries(Object.entries(headers).filter(([name]) => isNonSecretHeader(name)));
      }
      url = next;
    } catch (error) {
      const isTimeout = (error as Error).name === 'TimeoutError';
      const message = isTimeout
        ? `No answer within ${request.timeout_seconds} seconds`
        : `The address cannot be reached: ${(error as Error).message}`;
      return { failure: 'network', message };
    }
  }
}

const crossOriginRedirectMessage = (method: string, { origin }: URL): string =>
  `The address redirects the ${method} to another origin, ${origin}, which its body is not sent to; if that is right, make it the address`;

function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

async function readResponse(response: Response): Promise<GuardedResponse> {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'));
  const parts: Uint8Array[] = [];
  let length = 0;
  let isCut = false;
  if (response.body)
    for await (const part of response.body as ReadableStream<Uint8Array>) {
      parts.push(part);
      length += part.byteLength;
      if (length > maxBodyBytes) {
        isCut = true;
        break;
      }
    }
  const bytes = Buffer.concat(parts).subarray(0, maxBodyBytes);
  return { status: response.status, headers, body: new TextDecoder().decode(bytes), is_cut: isCut };
}
