import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from './settings.ts';

const silenceMs = 120_000;
const refusalMs = 10_000;

/** Waits until `GET {baseUrl}/health` answers 200. A service that does not answer in 2 minutes, or answers wrongly for 10 s, is a `LocalError`. */
export async function waitUntilHealthy(baseUrl: string, signal: AbortSignal, send: typeof fetch = fetch): Promise<void> {
  const startedAt = Date.now();
  let refusedSince: number | undefined;
  while (true) {
    const problem = await healthProblem(baseUrl, signal, send);
    if (problem === undefined) return;
    signal.throwIfAborted();
    if (problem.isAnswer) refusedSince ??= Date.now();
    else refusedSince = undefined;
    if ((refusedSince !== undefined && Date.now() - refusedSince > refusalMs) || Date.now() - startedAt > silenceMs) {
      throw new LocalError(`The service did not become healthy: ${problem.description}`);
    }
    await sleep(250, undefined, { signal });
  }
}

async function healthProblem(baseUrl: string, signal: AbortSignal, send: typeof fetch) {
  try {
    const response = await send(`${baseUrl}/health`, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    const text = await response.text();
    return response.ok ? undefined : { isAnswer: true, description: `GET /health answers ${response.status} ${text.slice(0, 1_000)}` };
  } catch (error) {
    return { isAnswer: false, description: `GET /health fails (${error instanceof Error ? error.message : String(error)})` };
  }
}
