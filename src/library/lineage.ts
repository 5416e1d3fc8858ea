// Journeys set each other off: by events, changes of contacts, child runs and ends of runs. Whatever one causes carries its lineage,
// stored as `depth` beside events, contacts, changes and runs: how deep in the chain it is, and which run began the chain, in one
// number, so that no writer can pass on the one and forget the other.

/** Of `depth`: the lowest digit in this base is how deep, the rest the id of the run that began the chain; 0: nobody did. */
export const lineageBase = 16;

/** What journeys set off nests this deep; beyond it events are stored but trigger nothing. */
export const maxLineageDepth = 8;

/** How deep. */
export const depthOf = (lineage: number): number => lineage % lineageBase;

/** The run that began the chain; null for what no journey caused. */
export const rootRunOf = (lineage: number): number | null => Math.floor(lineage / lineageBase) || null;

/** The lineage of what a run causes: a run that nothing set off begins a chain. */
export const childLineage = (run: { id: number; depth: number }): number =>
  (rootRunOf(run.depth) ?? run.id) * lineageBase + depthOf(run.depth) + 1;
