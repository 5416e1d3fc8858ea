import type { Context } from '../../../context.ts';
import { countLimit, decodeCursor, encodeCursor } from '../../../http/pagination.ts';
import { explainObstacle, findNodeObstacle, type MoveObstacle } from './move-obstacle.ts';
import { requireRunnableVersion } from './start-move.ts';
import * as store from './store.ts';

interface Verdict {
  can_move: boolean;
  /** `same_version` or an obstacle; null: it can move. */
  reason: MoveObstacle | 'same_version' | null;
  message: string | null;
}

export type PreviewedRun = store.LiveRunRow & Verdict;
export type PreviewedGroup = store.RunGroup & Verdict;

export interface MovePreview {
  runs: PreviewedRun[];
  nextCursor: string | null;
  /** Of the first page: all live runs by version and node, up to 10,000; null: it is another page. */
  groups: PreviewedGroup[] | null;
  isPartial: boolean;
}

/**
 * Which live runs of a journey could go on in a version, as their rows show them now. Two calls to the database besides those that find the version.
 * Throws 404, 409 and 422.
 */
export async function previewRunMove(
  context: Context,
  workflowId: number,
  version: number,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<MovePreview> {
  await requireRunnableVersion(context, workflowId, version);
  const { database, organization } = context;
  const before = decodeCursor(cursor)?.id;
  const [found, groups] = await database.batch([
    store.liveRunsStatement(database, organization.id, workflowId, { limit: limit + 1, before }),
    store.liveRunGroupsStatement(database, organization.id, workflowId, before === undefined ? countLimit + 1 : 0),
  ]);
  const runs = found.slice(0, limit);
  const places = [...runs.map((run) => ({ version: run.workflow_version, node: run.current_node_id })), ...groups.map(toPlace)];
  const types = await loadTypes(context, workflowId, [...places, ...places.map(({ node }) => ({ version, node }))]);
  const judge = (place: { workflow_version: number; node: string | null; state: string; hold: string | null }) =>
    toVerdict(place, version, types);
  return {
    runs: runs.map((run) => ({ ...run, ...judge({ ...run, node: run.current_node_id }) })),
    nextCursor: found.length > limit ? encodeCursor({ value: null, id: runs.at(-1)!.id }) : null,
    groups: before === undefined ? groups.map((group) => ({ ...group, ...judge({ ...group, node: group.node_id }) })) : null,
    isPartial: groups.reduce((sum, { runs: count }) => sum + count, 0) > countLimit,
  };
}

const toPlace = ({ workflow_version: version, node_id: node }: store.RunGroup) => ({ version, node });
const placeKey = (version: number, node: string): string => `${version}:${node}`;

async function loadTypes(
  { database, organization }: Context,
  workflowId: number,
  places: { version: number; node: string | null }[],
): Promise<Map<string, string>> {
  const wanted = {
    versions: [...new Set(places.map(({ version }) => version))],
    nodeIds: [...new Set(places.flatMap(({ node }) => node ?? []))],
  };
  const rows = await database.all(store.nodeTypesStatement(database, organization.id, workflowId, wanted));
  return new Map(rows.map(({ version, node_id: node, type }) => [placeKey(version, node), type]));
}

function toVerdict(
  { workflow_version: own, node, state, hold }: { workflow_version: number; node: string | null; state: string; hold: string | null },
  version: number,
  types: Map<string, string>,
): Verdict {
  if (own === version) return { can_move: false, reason: 'same_version', message: `It is on version ${version} already` };
  const obstacle = findObstacle();
  return obstacle === null
    ? { can_move: true, reason: null, message: null }
    : { can_move: false, reason: obstacle, message: explainObstacle(obstacle, node, version) };

  function findObstacle(): MoveObstacle | null {
    if (state === 'queued' || node === null) return hold === 'max_active' ? null : 'not_begun';
    if (state !== 'waiting') return 'busy';
    return findNodeObstacle(types.get(placeKey(own, node)) ?? null, types.get(placeKey(version, node)) ?? null);
  }
}
