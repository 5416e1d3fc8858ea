import { setTimeout as sleep } from 'node:timers/promises';
import type { KillableService } from './killable-service.ts';

/** Waits until something holds; throws with the end of the service's log when it does not within `seconds`. */
export async function until(service: KillableService, what: string, seconds: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline)
      throw new Error(`within ${seconds} s it did not come true that ${what}; the log ends with\n${service.output.slice(-5000)}`);
    await sleep(200);
  }
}

/** Ticks often instead of each minute, until the test stops it. */
export function tickOften(service: KillableService): () => Promise<void> {
  let isOver = false;
  const ticking = (async () => {
    for (; !isOver; await sleep(1500)) await service.tick().catch(() => undefined);
  })();
  return async () => {
    isOver = true;
    await ticking;
  };
}
