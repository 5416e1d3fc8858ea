import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import { invalid, invalidAt } from '../../library/errors.ts';
import { maskOriginIssues, restoreMasked, sealSecrets } from '../../expressions/secrets/secrets.ts';
import { isRecord } from '../../library/json/json.ts';
import { buildNewTrigger } from '../triggers/change-trigger.ts';
import { isTriggerType, triggerTypes } from '../triggers/configs.ts';
import { toChangedConfig, toRequestedConfig } from '../triggers/requested-config.ts';
import { toActivation, prepareTrigger } from '../triggers/prepare-trigger.ts';
import * as triggers from '../triggers/store.ts';

type JsonObject = Record<string, unknown>;

/** The current primary trigger: its row, and the `trigger` object in the workflow's row. */
interface CurrentPrimaryTrigger {
  row: triggers.TriggerRow | null;
  stored: string;
  /** null: the workflow that the same batch inserts. */
  workflowId: number | null;
}

interface PreparedPrimaryTrigger {
  /** The `trigger` object for the workflow's row, its secrets sealed. */
  stored: string;
  /** The writes to the rows of triggers. */
  statements: Statement[];
}

const maxNameLength = 200;

/**
 * Turns the `trigger` object of a request into writes. An object with a `type` is stored as the workflow's primary trigger, a row like that
 * of any other trigger; an object without one archives the primary trigger. Throws 422.
 */
export async function preparePrimaryTrigger(
  context: Context,
  given: JsonObject,
  { row, stored, workflowId }: CurrentPrimaryTrigger,
): Promise<PreparedPrimaryTrigger> {
  const { database } = context;
  const now = context.clock();
  const archived = row
    ? triggers.updateTriggerStatements(database, row, { ...row, state: 'archived', nextFireAt: null, topics: [] }, now)
    : [];
  const { type, name } = given;
  if (type === undefined || type === null) return { stored: await sealTrigger(context, given, stored), statements: archived };
  if (!isTriggerType(type)) {
    const message = `Unknown trigger type ${JSON.stringify(type)}; use one of ${triggerTypes.join(', ')}`;
    throw invalidAt(['body', 'trigger', 'type'], message, 'unknown_type');
  }
  if (name !== undefined && name !== null && (typeof name !== 'string' || name.length > maxNameLength))
    throw invalidAt(['body', 'trigger', 'name'], `Must be text of at most ${maxNameLength} characters`, 'invalid_type');
  const current = row?.type === type ? row : null;
  const before = current ? (JSON.parse(current.config) as JsonObject) : {};
  if (!isRecord(given['config'] ?? {})) throw invalidAt(['body', 'trigger', 'config'], 'Must be an object', 'invalid_type');
  const config = current ? toChangedConfig(given, before) : toRequestedConfig(given);
  const prepared =
    current && config === null
      ? { config: current.config, ...toActivation(type, before, now) }
      : await prepareTrigger(context, type, config, before, ['body', 'trigger', 'config']);
  const label = name ?? row?.name ?? type;
  return {
    stored: JSON.stringify({ type, ...(name ? { name } : {}), config: JSON.parse(prepared.config) as unknown }),
    statements: current
      ? triggers.updateTriggerStatements(database, current, { ...prepared, name: label, state: current.state }, now)
      : [
          ...archived,
          ...triggers.insertTriggerStatements(
            database,
            context.organization,
            buildNewTrigger(context, workflowId, { type, name: label }, prepared, true),
            now,
          ),
        ],
  };
}

async function sealTrigger({ settings, organization }: Context, given: JsonObject, stored: string): Promise<string> {
  const before = JSON.parse(stored) as unknown;
  const issues = maskOriginIssues(given, before, ['body', 'trigger']);
  if (issues.length) throw invalid(issues);
  const restored = await restoreMasked(settings.ENCRYPTION_KEY, organization.id, given, before);
  return JSON.stringify(await sealSecrets(settings.ENCRYPTION_KEY, organization.id, restored));
}
