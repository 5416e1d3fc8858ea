import type { Settings } from './settings.ts';

interface PlanLimit {
  /** The limit's name in the API. */
  name: string;
  /** The setting with the default. The organization's row may override the default. */
  variable: keyof Settings;
  meaning: string;
}

/** Every limit of an organization. Beyond a limit a request is refused or work waits, and other organizations are not affected. */
export const planLimits = {
  maxIntegrations: { name: 'max_integrations', variable: 'PLAN_MAX_INTEGRATIONS', meaning: 'Connected tools at one time.' },
  maxContacts: { name: 'max_contacts', variable: 'PLAN_MAX_CONTACTS', meaning: 'Contacts that may be stored.' },
  concurrentCallLimit: {
    name: 'concurrent_call_limit',
    variable: 'PLAN_CONCURRENT_CALLS',
    meaning: 'Calls at one time, of campaigns, journeys and single calls together.',
  },
  maxLiveRuns: {
    name: 'max_live_runs',
    variable: 'PLAN_MAX_LIVE_RUNS',
    meaning:
      'Runs of automation workflows that live at one time, sleeping ones included. One more is not started, and what asked for it says so.',
  },
  runsPerMinute: {
    name: 'runs_per_minute',
    variable: 'PLAN_RUNS_PER_MINUTE',
    meaning: 'Runs of automation workflows that start in a minute. Triggered ones beyond it wait in state `queued` for a later minute.',
  },
  maxChainedRuns: {
    name: 'max_chained_runs',
    variable: 'PLAN_MAX_CHAINED_RUNS',
    meaning: 'Runs that one run may set off in all: by events, changes of contacts, other journeys and its end, and by what these set off.',
  },
  maxLists: { name: 'max_lists', variable: 'PLAN_MAX_LISTS', meaning: 'Contact lists at one time.' },
  maxWorkflows: {
    name: 'max_workflows',
    variable: 'PLAN_MAX_WORKFLOWS',
    meaning: 'Automation workflows at one time. Archived ones do not count.',
  },
  maxTriggers: {
    name: 'max_triggers',
    variable: 'PLAN_MAX_TRIGGERS',
    meaning: 'Triggers of all workflows at one time. Archived ones do not count.',
  },
  maxSchedules: { name: 'max_schedules', variable: 'PLAN_MAX_SCHEDULES', meaning: 'Those of the triggers that are schedules.' },
  maxVoiceAgents: {
    name: 'max_voice_agents',
    variable: 'PLAN_MAX_VOICE_AGENTS',
    meaning: 'Voice agents at one time. Archived ones do not count.',
  },
  maxTelephonyConfigs: {
    name: 'max_telephony_configs',
    variable: 'PLAN_MAX_TELEPHONY_CONFIGS',
    meaning: 'Telephony configurations at one time.',
  },
  maxLanguageModels: {
    name: 'max_language_models',
    variable: 'PLAN_MAX_LANGUAGE_MODELS',
    meaning: 'Language models under keys of its own at one time.',
  },
  maxApiKeys: { name: 'max_api_keys', variable: 'PLAN_MAX_API_KEYS', meaning: 'API keys at one time. Archived ones do not count.' },
  maxWebhookEndpoints: {
    name: 'max_webhook_endpoints',
    variable: 'PLAN_MAX_WEBHOOK_ENDPOINTS',
    meaning: 'Webhook endpoints at one time: addresses that are told what ends or breaks.',
  },
  requestsPer10Seconds: {
    name: 'requests_per_10_seconds',
    variable: 'PLAN_REQUESTS',
    meaning: 'Requests in 10 seconds with all API keys and sessions together; one of them alone may send fewer.',
  },
  unsignedWebhooksPer10Seconds: {
    name: 'unsigned_webhooks_per_10_seconds',
    variable: 'PLAN_UNSIGNED_WEBHOOKS',
    meaning: 'Webhooks in 10 seconds to one trigger that verifies no signature; half of them from one network address.',
  },
} as const satisfies Record<string, PlanLimit>;

export type Plan = Record<keyof typeof planLimits, number>;
export type LimitName = (typeof planLimits)[keyof typeof planLimits]['name'];

const planLimitEntries = Object.entries(planLimits) as [keyof Plan, PlanLimit & { name: LimitName }][];

/** The plan: the defaults of the settings, replaced by `overrides` where given. */
export const toPlan = (overrides: Partial<Record<string, number | null>>, settings: Settings): Plan =>
  Object.fromEntries(planLimitEntries.map(([key, { name, variable }]) => [key, overrides[name] ?? settings[variable]])) as Plan;

/** The plan under the names of the API. */
export const planRecord = (plan: Plan): Record<LimitName, number> =>
  Object.fromEntries(planLimitEntries.map(([key, { name }]) => [name, plan[key]])) as Record<LimitName, number>;

/** The limit with the API's name `name`. */
export const planLimitOf = (plan: Plan, name: LimitName): number => plan[planLimitEntries.find(([, limit]) => limit.name === name)![0]];
