import { z } from 'zod';
import { apps, type App } from './library/connectable-apps.ts';

const wholeNumber = { error: 'must be a whole number above 0' };
const positiveInteger = (byDefault: number) => z.coerce.number(wholeNumber).int(wholeNumber).positive(wholeNumber).default(byDefault);
const optionalPositive = z.coerce.number(wholeNumber).int(wholeNumber).positive(wholeNumber).optional();
const base64Key = z.string({ error: 'is missing' }).refine((text) => decodedLength(text) === 32, 'must be 32 random bytes in base64');

/** Every variable of the service, its form and its one default. A wrong one is named at the first request. */
const Variables = z.object({
  DEPLOYMENT_MODE: z.enum(['local', 'cloud']).default('cloud'),
  SIGNUP: z.enum(['open', 'closed']).default('closed'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** Origin under which callers reach the service; empty: taken from each request. */
  PUBLIC_URL: z.url({ error: 'must be an address such as https://calls.example.com, or empty' }).or(z.literal('')).default(''),
  ENCRYPTION_KEY: base64Key,
  SIGNING_KEY: base64Key,
  PLAN_MAX_INTEGRATIONS: positiveInteger(10),
  PLAN_MAX_CONTACTS: positiveInteger(1_000_000),
  PLAN_CONCURRENT_CALLS: positiveInteger(100),
  PLAN_MAX_LIVE_RUNS: positiveInteger(100_000),
  PLAN_RUNS_PER_MINUTE: positiveInteger(6000),
  PLAN_MAX_CHAINED_RUNS: positiveInteger(1000),
  PLAN_MAX_LISTS: positiveInteger(2000),
  PLAN_MAX_WORKFLOWS: positiveInteger(1000),
  PLAN_MAX_TRIGGERS: positiveInteger(2000),
  PLAN_MAX_SCHEDULES: positiveInteger(500),
  PLAN_MAX_VOICE_AGENTS: positiveInteger(500),
  PLAN_MAX_TELEPHONY_CONFIGS: positiveInteger(100),
  PLAN_MAX_API_KEYS: positiveInteger(100),
  RATE_LIMIT_REQUESTS: positiveInteger(600),
  /** Requests in 10 s of one organization with all its credentials; absent: three times RATE_LIMIT_REQUESTS. */
  PLAN_REQUESTS: optionalPositive,
  /** Webhooks in 10 s to a trigger that verifies no signature; absent: RATE_LIMIT_REQUESTS. */
  PLAN_UNSIGNED_WEBHOOKS: optionalPositive,
  /** Sign-ups in an hour from one network address; absent: 60, locally 1000. */
  SIGNUPS_PER_HOUR: optionalPositive,
  /** Organizations that one user may be a member of and still create another. */
  ORGANIZATIONS_PER_USER: positiveInteger(100),
  /** Comma-separated origins whose pages may call the API from a browser; empty: none may. */
  CORS_ALLOWED_ORIGINS: z
    .string()
    .default('')
    .transform((text, context) => {
      const origins = text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean);
      for (const origin of origins)
        if (!isWebOrigin(origin))
          context.addIssue(
            `must be origins such as https://app.example.com, without a path and with commas between, and "${origin}" is none`,
          );
      return origins;
    }),
  /** Comma-separated origins that outbound requests may reach although their addresses are private. */
  ALLOWED_PRIVATE_ORIGINS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    ),
  /** Of the language model provider; empty: there is none, and what needs it says so. */
  OPENAI_API_KEY: z.string().trim().default(''),
  /** OpenAI's, or that of a service with the same API. */
  OPENAI_BASE_URL: z.url({ error: 'must be an address such as https://api.openai.com/v1' }).default('https://api.openai.com/v1'),
  /** The model that answers where none is named. */
  LANGUAGE_MODEL: z.string().trim().min(1, 'must be the name of a model').default('gpt-6-luna'),
  /** The model that turns texts into vectors of 1536 dimensions; its name is kept with each vector. */
  EMBEDDING_MODEL: z.string().trim().min(1, 'must be the name of a model').default('text-embedding-3-small'),
  /**
   * Where vectors of organizations that have none yet are kept: in the Vectorize index bound as VECTORS, or in a Durable Object an
   * organization, good for 20,000 of them. Absent: `embedded` locally, since there is no Vectorize, `vectorize` else.
   */
  VECTOR_BACKEND: z.enum(['embedded', 'vectorize']).optional(),
  /** Of the carriers' APIs. */
  TWILIO_BASE_URL: z.url({ error: 'must be an address such as https://api.twilio.com' }).default('https://api.twilio.com'),
  TWILIO_CONTENT_BASE_URL: z.url({ error: 'must be an address such as https://content.twilio.com' }).default('https://content.twilio.com'),
  TELNYX_BASE_URL: z.url({ error: 'must be an address such as https://api.telnyx.com/v2' }).default('https://api.telnyx.com/v2'),
  /** Of the connection broker; empty: there is none, and what needs it says so. */
  COMPOSIO_API_KEY: z.string().trim().default(''),
  COMPOSIO_BASE_URL: z
    .url({ error: 'must be an address such as https://backend.composio.dev/api/v3.1' })
    .default('https://backend.composio.dev/api/v3.1'),
  /** Which auth config of the broker is for which app: `chatapp=ac_...,tracker=ac_...`. */
  COMPOSIO_AUTH_CONFIGS: z
    .string()
    .default('')
    .transform((text, context) => {
      const entries = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.split('=').map((word) => word.trim())]));
      const isGood = entries.every(([app, id, more]) => (apps as readonly string[]).includes(app ?? '') && id && more === undefined);
      if (!isGood) context.addIssue(`must be like ${apps.map((app) => `${app}=ac_...`).join(',')}`);
      return entries as [App, string][];
    }),
  /** Of the messaging providers' APIs, Meta's with its version. WATI's is each customer's own. */
  META_BASE_URL: z
    .url({ error: 'must be an address such as https://graph.facebook.com/v25.0' })
    .default('https://graph.facebook.com/v25.0'),
  GUPSHUP_BASE_URL: z.url({ error: 'must be an address such as https://api.gupshup.io' }).default('https://api.gupshup.io'),
  /** Requests to a carrier that one batch of calls has open at a time. A Worker has six connections; locally they have no bound. */
  CALLS_AT_ONCE: positiveInteger(6),
  /** A call slot's holder asks the carrier within this, or gives the call back unasked; and waits so long for the carrier's answer. */
  CALL_ASK_WITHIN_SECONDS: positiveInteger(10),
  CALL_ANSWER_WITHIN_SECONDS: positiveInteger(10),
  /** A live call of which the carrier has told nothing for so long is asked about. */
  CALL_SILENCE_SECONDS: positiveInteger(60),
  /** A call that may or may not have been placed is looked for at the carrier after this, three times. */
  CALL_UNKNOWN_AFTER_SECONDS: positiveInteger(30),
  CALL_LOOK_AGAIN_SECONDS: positiveInteger(45),
  /** How long an ended call waits for the verdict of machine detection. */
  CALL_VERDICT_SECONDS: positiveInteger(10),
  /** A granted call that nobody came to place is announced again after this. */
  CALL_RESEND_SECONDS: positiveInteger(10),
  /** How old an accepted record may be, unhandled, before the minute tick sends it again. */
  SWEEP_AFTER_SECONDS: positiveInteger(30),
  /** How far past its wake-up time a run may be before the minute tick pokes its object. */
  OVERDUE_AFTER_SECONDS: positiveInteger(120),
  /** How long an accepted record that cannot be handled is tried again before it ends in a named state. */
  GIVE_UP_AFTER_HOURS: positiveInteger(24),
  /** What is over leaves the database after so many days: journeys' records and messages into the archive. */
  RETENTION_DAYS: positiveInteger(90),
  /** The same for calls and chats, whose recordings and transcripts go then. */
  CALL_RETENTION_DAYS: positiveInteger(365),
  /** The same for conversation tests and load tests, whose conversations go then. */
  TEST_RETENTION_DAYS: positiveInteger(90),
  /** How long after its end a campaign's rows are kept by its object; then in the archive. */
  CAMPAIGN_RETENTION_DAYS: positiveInteger(90),
  /** How long an uploaded file is kept that nothing is made of. */
  UPLOAD_RETENTION_DAYS: positiveInteger(30),
  /** How long it is known of a schedule that it has fired at a moment. */
  SCHEDULE_FIRE_DAYS: positiveInteger(7),
  /** How long the archive is kept. */
  ARCHIVE_DAYS: positiveInteger(1095),
  /** How large a database may become: D1 sets 10 GB, and 500 MB where nothing is paid. */
  DATABASE_LIMIT_MEGABYTES: positiveInteger(10_000),
  /** How long a request that has an agent tested waits for the tests; well within what its callers wait for an answer. */
  VERIFY_WAIT_SECONDS: positiveInteger(90),
});

const WithDefaults = Variables.transform((variables) => ({
  ...variables,
  PLAN_REQUESTS: variables.PLAN_REQUESTS ?? 3 * variables.RATE_LIMIT_REQUESTS,
  PLAN_UNSIGNED_WEBHOOKS: variables.PLAN_UNSIGNED_WEBHOOKS ?? variables.RATE_LIMIT_REQUESTS,
  SIGNUPS_PER_HOUR: variables.SIGNUPS_PER_HOUR ?? (variables.DEPLOYMENT_MODE === 'local' ? 1000 : 60),
  VECTOR_BACKEND: variables.VECTOR_BACKEND ?? (variables.DEPLOYMENT_MODE === 'local' ? ('embedded' as const) : ('vectorize' as const)),
}));

export type Settings = z.infer<typeof WithDefaults>;

/** Names every bad variable and how to set it, and no value. */
export class BadSettingsError extends Error {}

const settingsByBindings = new WeakMap<object, Settings>();

/** The settings of `bindings`, parsed once an isolate. Throws a `BadSettingsError`. */
export function getSettings(bindings: Env): Settings {
  const known = settingsByBindings.get(bindings);
  if (known) return known;
  const result = WithDefaults.safeParse(bindings);
  if (!result.success) {
    const faults = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    throw new BadSettingsError(
      `Bad settings (${faults}). Set them in .dev.vars locally, or with "wrangler secret put" and [vars] when deployed.`,
    );
  }
  settingsByBindings.set(bindings, result.data);
  return result.data;
}

/** As a browser names it: scheme, host in lower case and a port that is not the scheme's own. */
const isWebOrigin = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

function decodedLength(text: string): number {
  try {
    return atob(text).length;
  } catch {
    return -1;
  }
}
