/** Who wants call slots: single calls, the journeys together, each campaign, each in its own lane. */
export interface OwnerQueue {
  name: string;
  /** Before which others it comes when shares are equal: single calls, then journeys, then campaigns. */
  rank: number;
  /** Calls that it has at the moment. */
  live: number;
  /** How many of its own it may have at once; null: only the organization's limit counts. */
  most: number | null;
  /** How many it could begin now. */
  ready: number;
}

export const ownerQueueRank = (name: string): number => (name === 'single' ? 0 : name === 'journey' ? 1 : 2);

/**
 * Shares `free` slots out over lanes, one after the other: single calls first, since somebody waits for them; then always to the lane that
 * has the fewest calls. Answers how many each lane gets.
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

const hasCapacity = ({ live, most, ready }: OwnerQueue): boolean => ready > 0 && (most === null || live < most);

function compareByFewestCalls(one: OwnerQueue, other: OwnerQueue): number {
  const single = Number(other.rank === 0) - Number(one.rank === 0);
  return single || one.live - other.live || one.rank - other.rank || (one.name < other.name ? -1 : 1);
}

/** Slots that outbound calls may take now: the limit, less what is live, less what is kept free for inbound calls. */
export function countFreeForOutbound(
  { limit, hasInbound }: { limit: number; hasInbound: boolean },
  live: { all: number; inbound: number },
): number {
  // Of one slot nothing can be kept free.
  const reserve = hasInbound ? Math.min(Math.ceil(limit / 10), limit - 1) : 0;
  return Math.max(0, limit - live.all - Math.max(0, reserve - live.inbound));
}
