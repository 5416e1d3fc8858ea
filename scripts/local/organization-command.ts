import { planLimits } from '../../src/plan.ts';
import { LocalError } from './settings.ts';
import type { ShardMoveTarget } from './watch-shard-move.ts';

/** Limits with columns of their own; `plan_limits` holds all others by name. */
const planColumns: Record<string, string> = {
  max_integrations: 'plan_max_integrations',
  max_contacts: 'plan_max_contacts',
  concurrent_call_limit: 'plan_concurrent_calls',
};
const limitNames: string[] = Object.values(planLimits).map(({ name }) => name);

const indexNames = ['vectorize', 'embedded'] as const;
export type IndexName = (typeof indexNames)[number];

const usage = `Usage:
  npm run organization -- show <organization id> [--remote [--env NAME]]
  npm run organization -- set-plan <organization id> <limit> <number|default> [--remote [--env NAME]]
  npm run organization -- move-vectors <organization id> <${indexNames.join('|')}> [--remote [--env NAME]]
  npm run organization -- rebuild-statistics <organization id> [--remote [--env NAME]]
  npm run organization -- move <organization id> --to <shard> [--remote [--env NAME]]
  npm run organization -- move <organization id> --stop [--remote [--env NAME]]

Limits: ${limitNames.join(', ')}.
"default" returns to what the PLAN_* variables say. Without --remote the database of STATE_DIR is meant, with it the deployed one,
that of production unless --env names another.`;

export interface OrganizationCommand {
  organizationId: number;
  isRemote: boolean;
  /** One statement that answers a row, or none when there is no such organization. */
  sql: string;
  /** For a move: the wanted index, and the statement that returns its progress. */
  move?: { target: IndexName; sql: string };
  /** For a move between shards: what is asked for, and the statement that returns its progress. The first one may answer no row. */
  shardMove?: { target: ShardMoveTarget; sql: string };
}

const shown = `id, name, ${Object.values(planColumns).join(', ')}, plan_limits,
  (SELECT kept_in FROM vector_placement WHERE organization_id = organization.id) AS vectors_in, statistics_rebuild`;

const moveColumns = 'kept_in, phase, move_to, total, moved, missing, missing_documents, error, due_at';

/** Which deployment `--remote` means, and the rest of the command line. */
export function takeEnvironment(parameters: string[]): { environment: string; parameters: string[] } {
  const place = parameters.indexOf('--env');
  if (place === -1) return { environment: 'production', parameters };
  const environment = parameters[place + 1] ?? '';
  if (!/^[a-z][a-z0-9-]*$/.test(environment)) throw new LocalError(`--env is "${environment}"; give the name of a deployment.\n\n${usage}`);
  return { environment, parameters: parameters.toSpliced(place, 2) };
}

/** Reads the command line into SQL. Every part of it is checked against a list or a number's form first, so that nothing else gets into the statement. */
export function parseOrganizationCommand(parameters: string[]): OrganizationCommand {
  const [action, id, ...rest] = parameters.filter((parameter) => parameter !== '--remote');
  const isRemote = parameters.includes('--remote');
  if (action === 'show' && rest.length === 0) {
    const organizationId = wholeNumber(id, 'The organization id', 1);
    return { organizationId, isRemote, sql: `SELECT ${shown} FROM organization WHERE id = ${organizationId}` };
  }
  if (action === 'rebuild-statistics' && rest.length === 0) return rebuildCommand(wholeNumber(id, 'The organization id', 1), isRemote);
  if (action === 'move-vectors' && rest.length === 1) return moveCommand(wholeNumber(id, 'The organization id', 1), isRemote, rest[0]!);
  if (action === 'move') return shardMoveCommand(wholeNumber(id, 'The organization id', 1), isRemote, rest);
  if (action !== 'set-plan' || rest.length !== 2) throw new LocalError(usage);
  const organizationId = wholeNumber(id, 'The organization id', 1);
  const [key = '', value] = rest;
  if (!limitNames.includes(key)) throw new LocalError(`"${key}" is no limit of a plan. There are: ${limitNames.join(', ')}.`);
  const limit = value === 'default' ? null : wholeNumber(value, key, 0);
  const set = Object.hasOwn(planColumns, key) ? `${planColumns[key]} = ${limit ?? 'NULL'}` : `plan_limits = ${otherLimit(key, limit)}`;
  return { organizationId, isRemote, sql: `UPDATE organization SET ${set} WHERE id = ${organizationId} RETURNING ${shown}` };
}

const otherLimit = (key: string, limit: number | null): string => {
  const kept = "coalesce(plan_limits, '{}')";
  return limit === null ? `json_remove(${kept}, '$.${key}')` : `json_set(${kept}, '$.${key}', ${limit})`;
};

/** The row says what is wanted; the service does it, page after page, and goes on after a crash of its own or of this program. */
function moveCommand(organizationId: number, isRemote: boolean, index: string): OrganizationCommand {
  const target = indexNames.find((name) => name === index);
  if (target === undefined) throw new LocalError(`"${index}" is no index of vectors. There are: ${indexNames.join(', ')}.\n\n${usage}`);
  return {
    organizationId,
    isRemote,
    sql: `INSERT INTO vector_placement (organization_id, move_to, due_at) SELECT id, '${target}', 0 FROM organization WHERE id = ${organizationId}
      ON CONFLICT (organization_id) DO UPDATE SET move_to = excluded.move_to, due_at = coalesce(due_at, 0), finished_at = NULL, error = NULL
      RETURNING ${moveColumns}`,
    move: { target, sql: `SELECT ${moveColumns} FROM vector_placement WHERE organization_id = ${organizationId}` },
  };
}

/** The row asks for it; the minute tick does it, and empties `statistics_rebuild` when it is done. */
const rebuildCommand = (organizationId: number, isRemote: boolean): OrganizationCommand => ({
  organizationId,
  isRemote,
  sql: `UPDATE organization SET statistics_rebuild = '{}' WHERE id = ${organizationId} AND deleting_at IS NULL RETURNING ${shown}`,
});

/** The row says where to; the service does it, and goes on after a crash of its own or of this program. */
function shardMoveCommand(organizationId: number, isRemote: boolean, [option, shard, ...more]: string[]): OrganizationCommand {
  const isStop = option === '--stop' && shard === undefined;
  if ((option !== '--to' && !isStop) || more.length > 0) throw new LocalError(usage);
  const target = isStop ? 'stop' : wholeNumber(shard, 'The shard', 0);
  const state = `SELECT o.shard, o.deleting_at, m.phase, m.from_shard, m.to_shard, m.copied, m.changes_left, m.note
    FROM organization o LEFT JOIN organization_move m ON m.subject_id = o.id WHERE o.id = ${organizationId}`;
  return {
    organizationId,
    isRemote,
    sql: target === 'stop' ? stopSql(organizationId) : askSql(organizationId, target),
    shardMove: { target, sql: state },
  };
}

const askSql = (organizationId: number, target: number) =>
  `INSERT INTO organization_move (subject_id, from_shard, to_shard, phase, due_at, requested_at)
    SELECT id, shard, ${target}, 'asked', 0, unixepoch() * 1000 FROM organization WHERE id = ${organizationId} AND shard < ${target} AND deleting_at IS NULL
    ON CONFLICT (subject_id) DO UPDATE SET from_shard = excluded.from_shard, to_shard = excluded.to_shard, phase = 'asked', step = 0, cursor = NULL,
      copied = 0, changes_left = 0, tries = 0, note = NULL, due_at = 0, requested_at = excluded.requested_at, announced_at = NULL, moved_at = NULL,
      finished_at = NULL WHERE phase IN ('moved', 'cancelled', 'refused')`;

/** A move that the service has not taken up ends at once; one that it has just taken up has to be asked for again. */
const stopSql = (organizationId: number) =>
  `UPDATE organization_move SET note = 'The operator called it off', step = 0, cursor = NULL,
      phase = iif(phase = 'asked', 'cancelled', 'cancelling'), due_at = iif(phase = 'asked', NULL, 0)
    WHERE subject_id = ${organizationId} AND (phase IN ('copying', 'fenced') OR (phase = 'asked' AND due_at = 0))`;

function wholeNumber(text: string | undefined, name: string, least: number): number {
  const number = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  throw new LocalError(`${name} is "${text ?? ''}". It must be a whole number from ${least} on.\n\n${usage}`);
}
