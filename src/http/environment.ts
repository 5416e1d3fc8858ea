import type { Caller, Context } from '../accounts/context.ts';
import type { Logger } from '../library/log.ts';
import type { Settings } from '../settings.ts';

/** What Hono carries through a request. `context` and `caller` are there behind authentication. */
export interface HttpEnvironment {
  Bindings: Env;
  Variables: {
    requestId: string;
    settings: Settings;
    log: Logger;
    context: Context;
    caller: Caller;
    /** The body as received, once `readBody` has bounded and read it. */
    bodyText: string | undefined;
  };
}
