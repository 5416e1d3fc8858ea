import { vi } from 'vitest';

/**
 * Answers what the service asks of addresses that begin with `prefix`. Everything else goes its real way: objects of earlier tests may
 * still be at work. Gives what was asked there; `restoreAllMocks` ends it.
 */
export function stubFetch(prefix: string, answer: (request: Request) => Response | Promise<Response>): Request[] {
  const asked: Request[] = [];
  const realFetch = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith(prefix)) return realFetch(request);
    asked.push(request.clone() as Request);
    return answer(request);
  });
  return asked;
}
