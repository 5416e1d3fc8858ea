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
  /** The page that the links of invitations and password resets open; empty: that of the service. */
  CONSOLE_URL: z.url({ error: 'must be an address such as https://console.example.com, or empty' }).or(z.literal('')).default(''),
  /** The address that mail comes from, of a domain that Cloudflare has verified. Mail is sent with the binding MAIL alone. */
  MAIL_FROM: z.email({ error: 'must be an e-mail address, or empty' }).or(z.literal('')).default(''),
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
  PLAN_MAX_LANGUAGE_MODELS: positiveInteger(20),
  PLAN_MAX_API_KEYS: positiveInteger(100),
  PLAN_MAX_WEBHOOK_ENDPOINTS: positiveInteger(20),
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
  /** The API key of the language model provider; empty: no provider, and features that need one report it. */
  OPENAI_API_KEY: z.string().trim().default(''),
  /** The address of OpenAI, or of a service with the same API. */
  OPENAI_BASE_URL: z.url({ error: 'must be an address such as https://api.openai.com/v1' }).default('https://api.openai.com/v1'),
  /** The address of Anthropic, for language models of organizations that name no other. */
  ANTHROPIC_BASE_URL: z.url({ error: 'must be an address such as https://api.anthropic.com' }).default('https://api.anthropic.com'),
  /** The model that answers when no other is named. */
  LANGUAGE_MODEL: z.string().trim().min(1, 'must be the name of a model').default('gpt-6-luna'),
  /** The model that turns texts into vectors of 1536 dimensions; its name is kept with each vector. */
  EMBEDDING_MODEL: z.string().trim().min(1, 'must be the name of a model').default('text-embedding-3-small'),
  /**
   * The index for the vectors of organizations without vectors: the Vectorize index bound as VECTORS, or a Durable Object for each
   * organization, which holds up to 20,000 vectors. Absent: `embedded` locally, where Vectorize does not exist, else `vectorize`.
   */
  VECTOR_BACKEND: z.enum(['embedded', 'vectorize']).optional(),
  /** The addresses of the carriers' APIs. */
  TWILIO_BASE_URL: z.url({ error: 'must be an address such as https://api.twilio.com' }).default('https://api.twilio.com'),
  TWILIO_CONTENT_BASE_URL: z.url({ error: 'must be an address such as https://content.twilio.com' }).default('https://content.twilio.com'),
  TELNYX_BASE_URL: z.url({ error: 'must be an address such as https://api.telnyx.com/v2' }).default('https://api.telnyx.com/v2'),
  /** The API key of the connection broker; empty: no broker, and features that need one report it. */
  COMPOSIO_API_KEY: z.string().trim().default(''),
  COMPOSIO_BASE_URL: z
    .url({ error: 'must be an address such as https://backend.composio.dev/api/v3.1' })
    .default('https://backend.composio.dev/api/v3.1'),
  /** The broker's auth config for each app: `chatapp=ac_...,tracker=ac_...`. */
  COMPOSIO_AUTH_CONFIGS: z
    .string()
    .default('')
    .transform((text, context) => {
      const entries = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.split('=').map((word) => word.trim())]));
      const isGood = entries.every(([app, id, more]) => (apps as readonly string[]).includes(app ?? '') && id && more === undefined);
      if (!isGood) context.addIssue(`must be like ${apps.map((app) => `${app}=ac_...`).join(',')}`);
      return entries as [App, string][];
    }),
  /** The addresses of the messaging providers' APIs; Meta's contains the version. Each customer has an own address of WATI. */
  META_BASE_URL: z
    .url({ error: 'must be an address such as https://graph.facebook.com/v25.0' })
    .default('https://graph.facebook.com/v25.0'),
  GUPSHUP_BASE_URL: z.url({ error: 'must be an address such as https://api.gupshup.io' }).default('https://api.gupshup.io'),
  /**
   * The number of requests to a carrier that one batch of calls has open at a time. A Worker has six connections; locally there is no
   * limit.
   */
  CALLS_AT_ONCE: positiveInteger(6),
  /**
   * The holder of a call slot calls the carrier within the first time, or returns the call undialled, and waits for the carrier's answer
   * for the second.
   */
  CALL_ASK_WITHIN_SECONDS: positiveInteger(10),
  CALL_ANSWER_WITHIN_SECONDS: positiveInteger(10),
  /** A live call is checked at the carrier after this time without an event. */
  CALL_SILENCE_SECONDS: positiveInteger(60),
  /** A call of which it is unknown whether it was placed is looked up at the carrier after this time, three times in all. */
  CALL_UNKNOWN_AFTER_SECONDS: positiveInteger(30),
  CALL_LOOK_AGAIN_SECONDS: positiveInteger(45),
  /** How long an ended call waits for the verdict of machine detection. */
  CALL_VERDICT_SECONDS: positiveInteger(10),
  /** A granted call that nobody has picked up is announced again after this time. */
  CALL_RESEND_SECONDS: positiveInteger(10),
  /** After this time the minute tick sends an accepted record that is not handled again. */
  SWEEP_AFTER_SECONDS: positiveInteger(30),
  /** How far past its wake-up time a run may be before the minute tick wakes its object. */
  OVERDUE_AFTER_SECONDS: positiveInteger(120),
  /** How long a record that cannot be handled is tried again before it ends in a named state. */
  GIVE_UP_AFTER_HOURS: positiveInteger(24),
  /** Finished records leave the database after this many days: records of journeys and messages go to the archive. */
  RETENTION_DAYS: positiveInteger(90),
  /** The same for calls and chats, whose recordings and transcripts are then deleted. */
  CALL_RETENTION_DAYS: positiveInteger(365),
  /** The same for conversation tests and load tests, whose conversations are then deleted. */
  TEST_RETENTION_DAYS: positiveInteger(90),
  /** How long a campaign's object keeps the rows after the campaign's end, before they go to the archive. */
  CAMPAIGN_RETENTION_DAYS: positiveInteger(90),
  /** How long an uploaded file is kept that no record uses. */
  UPLOAD_RETENTION_DAYS: positiveInteger(30),
  /** How long the firings of a schedule are stored, so that none fires twice. */
  SCHEDULE_FIRE_DAYS: positiveInteger(7),
  /** How long the deliveries of webhook endpoints are kept, also those that a paused endpoint has not been sent. */
  WEBHOOK_DELIVERY_DAYS: positiveInteger(30),
  /** How long counters of statistics are kept: quarters of an hour for some weeks, then days. */
  STATISTICS_RETENTION_DAYS: positiveInteger(1095),
  /** How long the audit log is kept. */
  AUDIT_LOG_DAYS: positiveInteger(730),
  /** How long the archive is kept. */
  ARCHIVE_DAYS: positiveInteger(1095),
  /** The maximum size of a database. D1 allows 10 GB, and 500 MB on the free plan. */
  DATABASE_LIMIT_MEGABYTES: positiveInteger(10_000),
  /** The number of the first database that takes new organizations: `DB` is 0, `DB_1` is 1. */
  FIRST_OPEN_SHARD: z.coerce
    .number('must be a whole number from 0')
    .int('must be a whole number from 0')
    .min(0, 'must be a whole number from 0')
    .default(0),
  /** How long a request waits for tests of an agent that it starts; well below the time that callers wait for an answer. */
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

/** The message names every bad setting and how to set it, and contains no value. */
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

/** Whether `text` is an origin in the form of browsers: scheme, host in lower case, and a port other than the scheme's own. */
const isWebOrigin = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

function decodedLength(text: string): number {
  try {
    return atob(text).length;
  } catch {
    return -1;
  }
}
