// Journeys start each other: by events, changes of contacts, child runs and ends of runs. Everything that a run causes carries its lineage,
// stored as `depth` beside events, contacts, changes and runs: how deep in the chain it is, and which run began the chain, in one
// number, so that no writer can pass on the one and forget the other.

/**
 * `depth` combines two numbers: its lowest digit in this base is the depth, and the rest is the id of the run that began the chain; 0: no
 * run.
 */
export const lineageBase = 16;

/** Journeys may start each other this deep. Deeper events are stored but trigger nothing. */
export const maxLineageDepth = 8;

/** How deep. */
export const depthOf = (lineage: number): number => lineage % lineageBase;

/** The run that began the chain; null when no journey did. */
export const rootRunOf = (lineage: number): number | null => Math.floor(lineage / lineageBase) || null;

/** The lineage of everything that a run causes. A run that no run started begins a chain. */
export const childLineage = (run: { id: number; depth: number }): number =>
  (rootRunOf(run.depth) ?? run.id) * lineageBase + depthOf(run.depth) + 1;
