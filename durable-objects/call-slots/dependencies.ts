import type { Context } from '../../src/context.ts';
import type { Clock } from '../../src/library/time/clock.ts';
import type { Logger } from '../../src/library/platform/log.ts';
import type { CallTimeouts } from '../../src/calls/attempt/attempt.ts';

/** What the call slots' object provides to its parts. */
export interface CallSlotsDependencies {
  env(): Env;
  log(): Logger;
  now: Clock;
  timeouts(): CallTimeouts;
  organizationId(): number;
  context(): Promise<Context>;
}
