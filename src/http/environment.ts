import type { Caller, Context } from '../context.ts';
import type { Logger } from '../library/platform/log.ts';
import type { Settings } from '../settings.ts';

/** A session token as it came: in the cookie, which a browser sends by itself, or as a bearer. */
export interface SessionToken {
  token: string;
  isCookie: boolean;
}

/** The variables of a request. `context`, `caller` and `session` are set by the authentication. */
export interface HttpEnvironment {
  Bindings: Env;
  Variables: {
    requestId: string;
    settings: Settings;
    log: Logger;
    context: Context;
    caller: Caller;
    /** Undefined when an API key calls. */
    session: SessionToken | undefined;
    /** The body as received, once `readJsonBody` has bounded and read it. */
    bodyText: string | undefined;
  };
}
