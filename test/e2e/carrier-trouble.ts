import { setTimeout as sleep } from 'node:timers/promises';
import type { KillableService } from './killable-service.ts';

/** How the carrier may fail: without having placed the call, having placed it, or late. */
const troubles = [
  { status: 500, body: { code: 20500, message: 'Internal Server Error', status: 500 } },
  { status: 503, drop_response: true },
  { drop_response: true },
  { drop_response: true },
  { drop_response: true },
  { delay_ms: 800 },
  { delay_ms: 1500 },
  { delay_ms: 1500, drop_response: true },
] as const;

/** Makes the carrier fail at some requests to place a call, at most `most` times, until the test ends. Returns the number of failures. */
export function makeTrouble(service: KillableService, most: number, random: () => number): () => Promise<number> {
  let isOver = false;
  let planned = 0;
  const planning = (async () => {
    for (; !isOver && planned < most; planned++) {
      const trouble = troubles[Math.floor(random() * troubles.length)]!;
      const match = { method: 'POST', path: '/2010-04-01/Accounts/*/Calls.json' };
      const answer = await service.call({
        method: 'POST',
        path: `${service.simulators}/__sim/faults`,
        body: { provider: 'twilio', match, ...trouble },
      });
      if (answer.status !== 201) throw new Error(`the carrier cannot be made to fail: ${JSON.stringify(answer.body)}`);
      await sleep(random() * 500);
    }
  })();
  // The service finds such a call by a look-up.
  planning.catch(() => undefined);
  return async () => {
    isOver = true;
    await planning;
    return planned;
  };
}
