/** Why a run stays on its version. */
export type MoveObstacle = 'ended' | 'not_begun' | 'busy' | 'node_missing' | 'node_changed' | 'unreachable';

/** What became of a run that was to be moved. `same_version`: it was on the version before. */
export type MoveAnswer = { result: 'moved' | 'same_version' } | { result: 'kept'; obstacle: MoveObstacle };

/**
 * Why a run that waits at a node cannot go on in another version, by the types of the node in both; null: it can. A type that is null is not known: the
 * version has no such node.
 */
export function findNodeObstacle(own: string | null, target: string | null): 'node_missing' | 'node_changed' | null {
  if (target === null) return 'node_missing';
  return own !== null && own !== target ? 'node_changed' : null;
}

const sentences: Record<MoveObstacle, (node: string, version: number) => string> = {
  ended: () => 'The run has ended meanwhile',
  not_begun: () => 'The run has not begun: it begins within moments on its own version. Move again once it waits',
  busy: () => 'The run is taking steps just now; move again once it waits',
  node_missing: (node, version) => `Node "${node}", at which the run waits, is not in version ${version}`,
  node_changed: (node, version) => `Node "${node}", at which the run waits, has another type in version ${version}`,
  unreachable: () => 'The object of the run could not be reached; move again',
};

/** The obstacle in words. */
export const explainObstacle = (obstacle: MoveObstacle, nodeId: string | null, version: number): string =>
  sentences[obstacle](nodeId ?? '', version);
