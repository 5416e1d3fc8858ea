import { requirePayloadSize } from '../../database/payload.ts';
import { badRequest, invalid, invalidAt } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { defaultConfigs, ScheduleConfig } from './configs.ts';
import type { CampaignConfigs, ConfigChange, OrganizationLimits } from './configs.ts';
import { toWeeklySlot } from './time-slots.ts';

/** Includes the unknown keys. */
const maxConfigBytes = 16 * 1024;

/**
 * The configs after a change; `current` is null for a new campaign. Objects merge key by key, slots are replaced as a whole, null gives
 * the default and removes an unknown key. Throws 422 for an invalid schedule, 400 for more calls at once than the organization may have.
 */
export function applyConfigChange(current: CampaignConfigs | null, change: ConfigChange, owner: OrganizationLimits): CampaignConfigs {
  const defaults = defaultConfigs(owner);
  const base = current ?? defaults;
  const limit = owner.plan.concurrentCallLimit;
  if (change.max_concurrency && change.max_concurrency > limit)
    throw badRequest(
      `max_concurrency ${change.max_concurrency} is over the organization's concurrent_call_limit of ${limit}; use ${limit} or fewer`,
    );
  const configs = {
    retry_config: mergeConfig(base.retry_config, change.retry_config, defaults.retry_config),
    max_concurrency: change.max_concurrency === undefined ? base.max_concurrency : (change.max_concurrency ?? defaults.max_concurrency),
    schedule_config: mergeSchedule(base.schedule_config, change, defaults.schedule_config),
    circuit_breaker: mergeConfig(base.circuit_breaker, change.circuit_breaker, defaults.circuit_breaker),
  };
  for (const [name, config] of Object.entries(configs)) requirePayloadSize(JSON.stringify(config), maxConfigBytes, ['body', name]);
  return configs;
}

function mergeSchedule(current: ScheduleConfig, change: ConfigChange, defaults: ScheduleConfig): ScheduleConfig {
  const { schedule_config, time_slots } = change;
  if (schedule_config && time_slots)
    throw invalidAt(['body', 'time_slots'], 'time_slots and schedule_config say the same thing; give one of them');
  const kept = mergeConfig(current, schedule_config, defaults);
  if (time_slots) return { ...kept, enabled: true, slots: time_slots.map(toWeeklySlot) };
  if (time_slots === null && schedule_config === undefined) return { ...kept, enabled: defaults.enabled, slots: defaults.slots };
  // A change of another config does not validate the stored schedule again.
  const parsed = schedule_config ? ScheduleConfig.safeParse(kept) : undefined;
  if (parsed?.error) throw invalid(toIssues(parsed.error, ['body', 'schedule_config']));
  return kept;
}

/** A key that is missing in a stored config gets its default; an unknown key stays until it is set to null. */
function mergeConfig<Config extends object>(
  current: Config,
  change: { [Key in keyof Config]?: Config[Key] | null | undefined } | null | undefined,
  defaults: Config,
): Config {
  if (change === null) return defaults;
  const given = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  const set = Object.entries({ ...current, ...Object.fromEntries(given) }).filter(([, value]) => value !== null);
  return { ...defaults, ...Object.fromEntries(set) };
}
