import type { Context } from '../../accounts/context.ts';
import type { Statement } from '../../database/client.ts';
import { invalid, invalidAt } from '../../library/errors.ts';
import { movedMasks, restoreMasked, sealSecrets } from '../secrets.ts';
import { isRecord } from '../../library/json.ts';
import { newTrigger } from '../triggers/change.ts';
import { isTriggerType, triggerTypes } from '../triggers/configs.ts';
import { changedConfig, givenConfig } from '../triggers/given-config.ts';
import { armsOf, prepareTrigger } from '../triggers/prepare.ts';
import * as triggers from '../triggers/store.ts';

type JsonObject = Record<string, unknown>;

/** What there is so far: the primary trigger's row, and the trigger object that the workflow keeps. */
interface Before {
  row: triggers.TriggerRow | null;
  stored: string;
  /** null: the workflow that the same batch inserts. */
  workflowId: number | null;
}

interface Primary {
  /** The trigger object as the workflow keeps it: its secrets sealed. */
  stored: string;
  /** What that means for the triggers' rows. */
  statements: Statement[];
}

const longestName = 200;

/** The `trigger` object of a workflow, when it has a `type`, is its primary trigger row: one mechanism, two ways in. */
export async function preparePrimary(context: Context, given: JsonObject, { row, stored, workflowId }: Before): Promise<Primary> {
  const { database } = context;
  const now = context.clock();
  const archived = row
    ? triggers.updateTriggerStatements(database, row, { ...row, state: 'archived', nextFireAt: null, topics: [] }, now)
    : [];
  const { type, name } = given;
  if (type === undefined || type === null) return { stored: await sealed(context, given, stored), statements: archived };
  if (!isTriggerType(type)) {
    const message = `Unknown trigger type ${JSON.stringify(type)}; use one of ${triggerTypes.join(', ')}`;
    throw invalidAt(['body', 'trigger', 'type'], message, 'unknown_type');
  }
  if (name !== undefined && name !== null && (typeof name !== 'string' || name.length > longestName))
    throw invalidAt(['body', 'trigger', 'name'], `Must be text of at most ${longestName} characters`, 'invalid_type');
  const kept = row?.type === type ? row : null;
  const before = kept ? (JSON.parse(kept.config) as JsonObject) : {};
  if (!isRecord(given['config'] ?? {})) throw invalidAt(['body', 'trigger', 'config'], 'Must be an object', 'invalid_type');
  const config = kept ? changedConfig(given, before) : givenConfig(given);
  const prepared =
    kept && config === null
      ? { config: kept.config, ...armsOf(type, before, now) }
      : await prepareTrigger(context, type, config, before, ['body', 'trigger', 'config']);
  const label = name ?? row?.name ?? type;
  return {
    stored: JSON.stringify({ type, ...(name ? { name } : {}), config: JSON.parse(prepared.config) as unknown }),
    statements: kept
      ? triggers.updateTriggerStatements(database, kept, { ...prepared, name: label, state: kept.state }, now)
      : [
          ...archived,
          ...triggers.insertTriggerStatements(
            database,
            context.organization,
            newTrigger(context, workflowId, { type, name: label }, prepared, true),
            now,
          ),
        ],
  };
}

async function sealed({ settings, organization }: Context, given: JsonObject, stored: string): Promise<string> {
  const before = JSON.parse(stored) as unknown;
  const moved = movedMasks(given, before, ['body', 'trigger']);
  if (moved.length) throw invalid(moved);
  const restored = await restoreMasked(settings.ENCRYPTION_KEY, organization.id, given, before);
  return JSON.stringify(await sealSecrets(settings.ENCRYPTION_KEY, organization.id, restored));
}
