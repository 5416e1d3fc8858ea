import type { CallToPlace, CarrierRuntime, PlaceResult } from '../../src/providers/telephony/telephony.ts';

export interface Asked {
  method: string;
  url: string;
  headers: Headers;
  body: string;
}

/** A world in which every request is answered by `answer`, and remembered. */
export function fakeRuntime(
  answer: (asked: Asked) => Response | Promise<Response>,
  now = 1_700_000_000_000,
): CarrierRuntime & { asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    now: () => now,
    async fetch(input, init = {}) {
      const one = { method: init.method ?? 'GET', url: String(input), headers: new Headers(init.headers), body: String(init.body ?? '') };
      asked.push(one);
      return answer(one);
    },
  };
}

/** A carrier that never answers; gives up as the real fetch does when its time is over. */
export const silentRuntime = (): CarrierRuntime => ({
  now: Date.now,
  fetch: (_input, init) =>
    new Promise((_resolve, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error))),
});

export const brokenRuntime = (): CarrierRuntime => ({
  now: Date.now,
  fetch: () => Promise.reject(new TypeError('fetch failed: secret-token at 10.0.0.1')),
});

export const callTo = (to: string, more: Partial<CallToPlace> = {}): CallToPlace => ({
  attemptKey: `campaign:7:12:1 ${to}`,
  to,
  from: '+15005550006',
  urls: { status: 'https://calls.example.com/status?attempt=a1', answer: 'https://calls.example.com/answer?attempt=a1' },
  ...more,
});

/** The one kind of result that it is, without its content. */
export const kindOf = (result: PlaceResult): string => Object.keys(result).join();
