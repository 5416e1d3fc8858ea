import { idsPerShard } from '../database/shard-anchors.ts';

/** The rows of a table along an index that has the rows of each lane in the order of their ids. The parameter 1 says whose rows are meant. */
interface LaneIndex {
  table: string;
  index: string;
  /** SQL of a table with the column `value`: the lanes. */
  lanes: string;
  /** The condition on rows `m` of the lane `lane.value`. */
  isInLane: string;
}

/** The distinct values of the column of an index behind `own`, each found by one step along it; at last null. */
const distinctValues = (table: string, index: string, own: string, column: string, isFirst = 'true') =>
  `SELECT (SELECT min(${column}) FROM ${table} INDEXED BY ${index} WHERE ${own} AND ${isFirst})
   UNION ALL
   SELECT (SELECT min(${column}) FROM ${table} INDEXED BY ${index} WHERE ${own} AND ${column} > lane.value) FROM lane WHERE lane.value IS NOT NULL`;

export const messagesByProvider: LaneIndex = {
  table: 'message',
  index: 'message_provider',
  lanes: distinctValues('message', 'message_provider', 'organization_id = ?1', 'provider'),
  isInLane: 'm.organization_id = ?1 AND m.provider = lane.value',
};

/** The runs of a journey. Those that no trigger has started are in the lane null. */
export const runsByTrigger: LaneIndex = {
  table: 'automation_run',
  index: 'automation_run_workflow',
  lanes: distinctValues('automation_run', 'automation_run_workflow', 'workflow_id = ?1', 'trigger_id', 'trigger_id IS NOT NULL'),
  isInLane: 'm.workflow_id = ?1 AND m.trigger_id IS lane.value AND m.is_test = 0',
};

/** Calls and chats. */
export const callsByAgent: LaneIndex = {
  table: 'voice_agent_run',
  index: 'voice_agent_run_agent',
  lanes: 'SELECT id FROM voice_agent WHERE organization_id = ?1',
  isInLane: 'm.agent_id = lane.value',
};

/** How far the clocks of the machines that make records may differ. */
const maxClockSkewMs = 3_600_000;

/**
 * `INSERT ... SELECT` of the rows `m` that were made from ?2 to before ?3 (epoch ms), to which conditions may be added. There is no index on the
 * moment, but ids grow with it among the rows that one shard has made (`part`). So the ids of a day are found by binary search, and only rows of
 * about this day are read. `insert` ends with the columns that are selected.
 */
export function insertRowsOfDay({ table, index, lanes, isInLane }: LaneIndex, insert: string): string {
  const [into, selected] = insert.split(/\s(?=SELECT )/, 2) as [string, string];
  const next = (from: string, more = '') =>
    `(SELECT min((SELECT m.id FROM ${table} m INDEXED BY ${index} WHERE ${isInLane} AND m.id >= ${from} ${more} ORDER BY m.id LIMIT 1)) FROM lane)`;
  return `${into}
    WITH RECURSIVE lane (value) AS MATERIALIZED (${lanes}),
    part (first) AS (
      SELECT ${next('0')}
      UNION ALL SELECT ${next(`(part.first / ${idsPerShard} + 1) * ${idsPerShard}`)} FROM part WHERE part.first IS NOT NULL),
    half (part, moment, low, high) AS (
      SELECT first / ${idsPerShard}, moment.value, first, (first / ${idsPerShard} + 1) * ${idsPerShard}
      FROM part CROSS JOIN json_each(json_array(?2 - ${maxClockSkewMs}, ?3 + ${maxClockSkewMs})) moment WHERE first IS NOT NULL
      UNION ALL
      SELECT part, moment, iif(x.created_at < moment, x.id + 1, low), iif(x.created_at < moment, high, (low + high) / 2)
      FROM half LEFT JOIN ${table} x ON x.id = ${next('(half.low + half.high) / 2', 'AND m.id < half.high')}
      WHERE low < high),
    ids (first, past) AS (SELECT min(id), max(id) FROM (SELECT part, max(low) AS id FROM half GROUP BY part, moment) GROUP BY part)
    ${selected} FROM ids CROSS JOIN lane CROSS JOIN ${table} m INDEXED BY ${index}
    WHERE ${isInLane} AND m.id >= ids.first AND m.id < ids.past AND m.created_at >= ?2 AND m.created_at < ?3`;
}
