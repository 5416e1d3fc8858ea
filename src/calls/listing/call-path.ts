import type { Parameter } from '../../database/client.ts';
import type { SqlFragment } from '../../database/sql-fragment.ts';
import type { CursorPosition } from '../../http/pagination.ts';
import type { CallFilter, CallSort } from './call-filter.ts';

/** The value by which rows are in order, before their id. */
type Order = 'created_at' | 'talk_seconds' | 'id';

/**
 * A way to the calls of a filter: a stretch of an index in which all of them are, and in what order.
 *
 * Each costs a row for each call that it has, so there are few: by day, number, campaign, journey and length of the talk. The agent's, the
 * contact's, the key's and that of live calls are there for other queries. Outcomes, dispositions and the like go along one of these.
 */
interface CallPath {
  index: string;
  where: SqlFragment;
  order: Order;
}

export interface PathBounds {
  after?: CursorPosition | undefined;
  /** How many rows are looked at. */
  maxRows: number;
}

/** Whether the path of a filter has only calls with its words. */
export const goesAlongWords = (organizationId: number, filter: CallFilter, sort: CallSort): boolean =>
  filter.match !== undefined && sort !== 'longest_talk' && !findShortStretch(organizationId, filter);

/** Whether all calls of a path meet the filter: the path is that of the organization, and nothing but days is asked for. */
export const isWholePath = ({ from: _from, to: _to, ...others }: CallFilter, sort: CallSort): boolean =>
  sort !== 'longest_talk' && Object.values(others).every((value) => value === undefined);

/** The ids of the first rows of a filter's path, as `id` and `value`, in their order. The rows need not meet the whole filter. */
export function selectAlongPath(organizationId: number, filter: CallFilter, sort: CallSort, bounds: PathBounds): SqlFragment {
  if (goesAlongWords(organizationId, filter, sort)) return selectAlongWords(filter.match!, sort, bounds);
  const stretch = findShortStretch(organizationId, filter);
  const path = sort === 'longest_talk' ? toTalkPath(organizationId, stretch) : (stretch ?? findLongStretch(organizationId, filter));
  return selectAlongIndex(path, filter, sort, bounds);
}

/** The stretch of a person, of a run or of what is live now; null: the filter names none. Its rows are so few that they can be sorted. */
function findShortStretch(organizationId: number, filter: CallFilter): CallPath | null {
  const { contactId, phone, journeyRunId, status } = filter;
  if (journeyRunId !== undefined)
    return toPath(
      'voice_agent_run_attempt',
      'id',
      'r.organization_id = ? AND r.attempt_key >= ? AND r.attempt_key < ?',
      organizationId,
      // The keys of a run's calls begin with the run.
      `journey:${journeyRunId}:`,
      `journey:${journeyRunId};`,
    );
  if (contactId !== undefined) return toPath('voice_agent_run_contact', 'id', 'r.contact_id = ?', contactId);
  if (phone !== undefined) return toPath('voice_agent_run_phone', 'id', 'r.organization_id = ? AND r.phone = ?', organizationId, phone);
  if (status === 'live')
    return toPath(
      'voice_agent_run_open',
      'id',
      'r.agent_id IN (SELECT id FROM voice_agent WHERE organization_id = ?) AND r.is_completed = 0',
      organizationId,
    );
  return null;
}

function findLongStretch(organizationId: number, filter: CallFilter): CallPath {
  const { campaignId, journeyId, agentId, from, to } = filter;
  if (campaignId !== undefined) return toPath('voice_agent_run_campaign', 'created_at', 'r.campaign_id = ?', campaignId);
  if (journeyId !== undefined) return toPath('voice_agent_run_journey', 'created_at', 'r.automation_workflow_id = ?', journeyId);
  // The index of agents knows no days.
  if (agentId !== undefined && from === undefined && to === undefined)
    return toPath('voice_agent_run_agent', 'id', 'r.agent_id = ?', agentId);
  return toPath('voice_agent_run_created', 'created_at', "r.organization_id = ? AND r.mode <> 'textchat'", organizationId);
}

function toTalkPath(organizationId: number, stretch: CallPath | null): CallPath {
  if (!stretch) return toPath('voice_agent_run_talk', 'talk_seconds', 'r.organization_id = ? AND r.talk_seconds > 0', organizationId);
  const { index, where } = stretch;
  return { index, where: { ...where, sql: `${where.sql} AND r.talk_seconds > 0` }, order: 'talk_seconds' };
}

const toPath = (index: string, order: Order, sql: string, ...parameters: Parameter[]): CallPath => ({
  index,
  where: { sql, parameters },
  order,
});

function selectAlongIndex({ index, where, order }: CallPath, filter: CallFilter, sort: CallSort, bounds: PathBounds): SqlFragment {
  const direction = sort === 'oldest' ? 'ASC' : 'DESC';
  const conditions: SqlFragment[] = [where];
  const add = (sql: string, ...parameters: (Parameter | undefined)[]) => {
    if (!parameters.includes(undefined)) conditions.push({ sql, parameters: parameters as Parameter[] });
  };
  if (order === 'created_at') {
    add('r.created_at >= ?', filter.from);
    add('r.created_at <= ?', filter.to);
  }
  if (order === 'talk_seconds') add('r.talk_seconds >= ?', filter.minTalkSeconds);
  const isLater = direction === 'ASC' ? '>' : '<';
  if (order === 'id') add(`r.id ${isLater} ?`, bounds.after?.id);
  else add(`(r.${order}, r.id) ${isLater} (?, ?)`, bounds.after?.value, bounds.after?.id);
  const orderBy = order === 'id' ? `r.id ${direction}` : `r.${order} ${direction}, r.id ${direction}`;
  return {
    sql: `SELECT r.id AS id, ${order === 'id' ? 'NULL' : `r.${order}`} AS value FROM voice_agent_run r INDEXED BY ${index}
       WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} ORDER BY ${orderBy} LIMIT ?`,
    parameters: [...conditions.flatMap(({ parameters }) => parameters), bounds.maxRows],
  };
}

/**
 * The calls with the words, by their ids: full-text search has no other order that it need not sort for. It begins at an id only where that
 * is an integer, and D1 binds numbers as reals.
 */
function selectAlongWords(match: string, sort: CallSort, { after, maxRows }: PathBounds): SqlFragment {
  const [isLater, direction] = sort === 'oldest' ? ['>', 'ASC'] : ['<', 'DESC'];
  const isAfter =
    after === undefined ? { sql: '', parameters: [] } : { sql: `AND rowid ${isLater} CAST(? AS INTEGER)`, parameters: [after.id] };
  return {
    sql: `SELECT rowid AS id, NULL AS value FROM call_search WHERE call_search MATCH ? ${isAfter.sql} ORDER BY rowid ${direction} LIMIT ?`,
    parameters: [match, ...isAfter.parameters, maxRows],
  };
}
