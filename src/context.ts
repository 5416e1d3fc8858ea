import type { Database } from './database/client.ts';
import type { Role } from './database/schema/accounts.ts';
import type { WorkTurn } from './library/limits/work-turn.ts';
import type { Clock } from './library/time/clock.ts';
import type { Logger } from './library/platform/log.ts';
import type { Settings } from './settings.ts';
import type { Plan } from './plan.ts';

/** The facts of an organization that every verb needs. */
export interface Organization {
  id: number;
  name: string;
  /** ISO 3166-1 alpha-2: how national phone numbers are read. */
  defaultCountry: string;
  /** IANA zone. */
  timezone: string;
  shard: number;
  /** The minimum time between two calls to one person, from all sources; 0: none. */
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
  /** For work that takes turns with the work of other organizations: counts the evaluations. */
  turn?: WorkTurn;
  /** Lets `work` finish after the answer was sent. The minute tick must find deferred work, too. */
  defer(work: Promise<unknown>): void;
}

/** What a caller may do; `accounts/authentication/scopes.ts` says which calls each covers. Keys have all but `owner`. */
export type KeyScope = 'read' | 'operate' | 'write' | 'admin';
export type Scope = KeyScope | 'owner';

/** The caller: a user with an API key or a session. */
export interface Caller {
  userId: number;
  scopes: Scope[];
  /** Null: no member of the organization, or no organization is selected. */
  role: Role | null;
  /** The key under which the rate limit counts. */
  credential: string;
}
