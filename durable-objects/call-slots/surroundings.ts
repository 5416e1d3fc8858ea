import type { Context } from '../../src/accounts/context.ts';
import type { Clock } from '../../src/library/clock.ts';
import type { Logger } from '../../src/library/log.ts';
import type { Patience } from '../../src/voice-agents/dialing/attempt/attempt.ts';

/** What the parts of the call slots need of their object. */
export interface Surroundings {
  env(): Env;
  log(): Logger;
  now: Clock;
  patience(): Patience;
  organizationId(): number;
  context(): Promise<Context>;
}
