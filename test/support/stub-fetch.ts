import { vi } from 'vitest';
import { realFetch } from './real-fetch.ts';

/**
 * Answers the service's requests to addresses that begin with `prefix`, and returns a record of them. All other requests are sent, since objects of
 * earlier tests may still be at work. `restoreAllMocks` ends the stub.
 */
export function stubFetch(prefix: string, answer: (request: Request) => Response | Promise<Response>): Request[] {
  const asked: Request[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith(prefix)) return realFetch(request);
    asked.push(request.clone() as Request);
    return answer(request);
  });
  return asked;
}
