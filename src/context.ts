import type { Database } from './database/client.ts';
import type { WorkTurn } from './library/limits/work-turn.ts';
import type { Clock } from './library/time/clock.ts';
import type { Logger } from './library/platform/log.ts';
import type { Settings } from './settings.ts';
import type { Plan } from './plan.ts';

/** What everything done for an organization needs to know of it. */
export interface Organization {
  id: number;
  name: string;
  /** ISO 3166-1 alpha-2: how national phone numbers are read. */
  defaultCountry: string;
  /** IANA zone. */
  timezone: string;
  shard: number;
  /** Between two calls to one person, whoever asks for them; 0: none needed. */
  minHoursBetweenCalls: number;
  plan: Plan;
}

/** The first argument of every verb: one organization, its database, and the outside of this invocation. */
export interface Context {
  organization: Organization;
  /** The database that holds the organization's rows. */
  database: Database;
  bindings: Env;
  settings: Settings;
  clock: Clock;
  log: Logger;
  /** Of work that takes turns with that of other organizations: counts what is evaluated. */
  turn?: WorkTurn;
  /** Lets `work` finish after the answer was sent. Whatever is deferred must also be found by the minute tick. */
  defer(work: Promise<unknown>): void;
}

export type Scope = 'read' | 'write' | 'admin';

/** Who is calling: a user through an API key or a session. */
export interface Caller {
  userId: number;
  scopes: Scope[];
  /** What the rate limit counts. */
  credential: string;
}
