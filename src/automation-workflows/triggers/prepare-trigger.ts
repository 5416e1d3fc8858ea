import type { Context } from '../../context.ts';
import { listExists } from '../../contacts/lists/lists.ts';
import { requirePayloadSize } from '../../database/payload.ts';
import { invalid, invalidAt } from '../../library/errors.ts';
import { nextFireAt } from '../../expressions/cron-schedule.ts';
import { unresolvedMaskIssues, restoreMasked, sealSecrets } from '../../expressions/secrets/secrets.ts';
import { parseTriggerConfig, type TriggerConfig, type TriggerType } from './configs.ts';

const maxConfigBytes = 256 * 1024;

/** A trigger's config, checked and ready to be stored. */
export interface PreparedTrigger {
  /** JSON text, secrets sealed. */
  config: string;
  topics: string[];
  /** Epoch ms; null for triggers without a schedule. */
  nextFireAt: number | null;
}

/** Checks a config and the list that it names, and seals its secrets. A mask keeps the secret of the stored config `before`. Throws 422 at `loc`. */
export async function prepareTrigger(
  context: Context,
  type: TriggerType,
  given: unknown,
  before: unknown,
  loc: string[],
): Promise<PreparedTrigger> {
  const { organization, settings } = context;
  const restored = await restoreMasked(settings.ENCRYPTION_KEY, organization.id, given, before);
  const parsed = parseTriggerConfig(type, restored, loc);
  if (parsed.issues) throw invalid(parsed.issues);
  const leftover = unresolvedMaskIssues(restored, loc);
  if (leftover.length) throw invalid(leftover);
  const config = parsed.config;
  if (type === 'schedule') {
    const { audience } = config as TriggerConfig<'schedule'>;
    if (audience && !(await listExists(context, audience.list_id)))
      throw invalidAt([...loc, 'audience', 'list_id'], `There is no contact list ${audience.list_id} in this organization`, 'not_found');
  }
  requirePayloadSize(JSON.stringify(config), maxConfigBytes, loc);
  return {
    config: JSON.stringify(await sealSecrets(settings.ENCRYPTION_KEY, organization.id, config)),
    ...toActivation(type, config, context.clock()),
  };
}

/** The topics that a checked config listens to, and the epoch ms of its next firing. */
export const toActivation = (type: TriggerType, config: unknown, now: number): Pick<PreparedTrigger, 'topics' | 'nextFireAt'> => ({
  topics: toTopics(type, config),
  nextFireAt: toNextFireAt(type, config, now),
});

function toTopics(type: TriggerType, config: unknown): string[] {
  if (type === 'contact_event') return (config as TriggerConfig<'contact_event'>).event_types.map((name) => `contact_event:${name}`);
  if (type === 'event') return [`event:${(config as TriggerConfig<'event'>).event}`];
  if (type === 'data_condition') return (config as TriggerConfig<'data_condition'>).on.map((change) => `change:${change}`);
  return [];
}

export function toNextFireAt(type: TriggerType, config: unknown, now: number): number | null {
  if (type !== 'schedule') return null;
  const { cron, timezone } = config as TriggerConfig<'schedule'>;
  return nextFireAt(cron, timezone, now);
}
