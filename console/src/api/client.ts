import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

/** The records of the API, by the names of its document. */
export type Schemas = components['schemas'];

/** What the API answered instead of what was asked for. */
export class ApiError extends Error {
  readonly status: number;
  /** The sentence about each value that is wrong, by its place in the request: `body.schedule_config.slots.0`. */
  readonly fields: ReadonlyMap<string, string>;

  constructor(status: number, message: string, fields: ReadonlyMap<string, string> = new Map()) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.fields = fields;
  }
}

type Problem = { detail?: string | { loc: string[]; msg: string }[] };

/** The error as the API tells it: one sentence, or one for each value that is wrong. */
function toApiError(status: number, body: unknown): ApiError {
  const { detail } = (typeof body === 'object' && body !== null ? body : {}) as Problem;
  if (typeof detail === 'string') return new ApiError(status, detail);
  if (Array.isArray(detail)) {
    const fields = new Map(detail.map(({ loc, msg }) => [loc.slice(1).join('.'), msg]));
    return new ApiError(status, detail.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc[0]}: ${msg}`).join('\n'), fields);
  }
  return new ApiError(status, `The service answered ${status} without a reason`);
}

/** Who has to know that the session has ended, while a page is open. */
let onSessionEnd = (): void => undefined;
export const whenSessionEnds = (listener: () => void): void => {
  onSessionEnd = listener;
};

const problems: Middleware = {
  async onResponse({ response, schemaPath }) {
    if (response.ok) return undefined;
    const body: unknown = await response.json().catch(() => undefined);
    if (response.status === 401 && !schemaPath.startsWith('/api/v1/auth/')) onSessionEnd();
    throw toApiError(response.status, body);
  },
  onError({ error }) {
    return new ApiError(
      0,
      `The service cannot be reached (${error instanceof Error ? error.message : 'no connection'}); check the network, then try again`,
    );
  },
};

/** Every call throws an `ApiError` unless the API did what it was asked. */
export const api = createClient<paths>({ credentials: 'same-origin' });
api.use(problems);

/** The answer of a call that did not throw. */
export async function answerOf<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  const { data } = await call;
  return data as Data;
}
