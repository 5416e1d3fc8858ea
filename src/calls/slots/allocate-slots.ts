/** A queue of calls that share a lane: all single calls, all journeys, or one campaign. */
export interface OwnerQueue {
  name: string;
  /** Breaks ties, lowest first: single calls, then journeys, then campaigns. */
  rank: number;
  /** Its live calls. */
  live: number;
  /** How many live calls it may have; null: only the organization's limit counts. */
  maxLive: number | null;
  /** How many of its calls could be dialled now. */
  ready: number;
}

/** The rank of a lane by its name. */
export const ownerQueueRank = (name: string): number => (name === 'single' ? 0 : name === 'journey' ? 1 : 2);

/**
 * Allocates `free` slots to lanes, one after the other. Single calls come first, since a person waits for them; then always the lane with
 * the fewest live calls. Answers how many slots each lane gets.
 */
export function allocateSlots(queues: readonly OwnerQueue[], free: number): Map<string, number> {
  const given = new Map<string, number>();
  const left = queues.map((queue) => ({ ...queue }));
  for (let slot = 0; slot < free; slot++) {
    const next = left.filter(hasCapacity).toSorted(compareByFewestCalls)[0];
    if (!next) break;
    next.live += 1;
    next.ready -= 1;
    given.set(next.name, (given.get(next.name) ?? 0) + 1);
  }
  return given;
}

const hasCapacity = ({ live, maxLive, ready }: OwnerQueue): boolean => ready > 0 && (maxLive === null || live < maxLive);

function compareByFewestCalls(one: OwnerQueue, other: OwnerQueue): number {
  const single = Number(other.rank === 0) - Number(one.rank === 0);
  return single || one.live - other.live || one.rank - other.rank || (one.name < other.name ? -1 : 1);
}

/** How many slots outbound calls may take now: the limit, less the live calls, less the reserve for inbound calls. */
export function countFreeForOutbound(
  { limit, hasInbound }: { limit: number; hasInbound: boolean },
  live: { all: number; inbound: number },
): number {
  // A limit of one slot has no reserve.
  const reserve = hasInbound ? Math.min(Math.ceil(limit / 10), limit - 1) : 0;
  return Math.max(0, limit - live.all - Math.max(0, reserve - live.inbound));
}
