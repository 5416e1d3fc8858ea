/** How queued calls of one owner stand against every bound. */
export interface QueueStatus {
  /** Why the organization can dial nobody; null: it can. */
  cannotDialReason: string | null;
  /** Of the owner's queued calls: whether one may be dialled at once, whether a person is in another call, when the carrier may be asked again. */
  queued: { isReady: boolean; isPersonInCall: boolean; notBefore: number | null };
  /** The owner's own calls, and how many it may have; null: as many as the plan. */
  own: { live: number; most: number | null };
  /** All calls of the organization; `free`: how many more outbound calls may begin. */
  plan: { live: number; limit: number; free: number };
  /** Calls that were begun within the last second. */
  rate: { begun: number; perSecond: number };
}

/**
 * What keeps queued calls from being dialled: of each bound that holds a word, then a sentence for people; null: nothing, their turn is next. What
 * no other bound could lift comes alone: without telephony, or when none of the calls may be dialled, room is of no use. The rate is over in a
 * second, so it is named where nothing else holds.
 */
export function findBlockingReason({ cannotDialReason: reason, queued, own, plan, rate }: QueueStatus): string | null {
  if (reason !== null) return `telephony_not_configured: ${reason}`;
  if (!queued.isReady) {
    if (queued.isPersonInCall) return 'in_another_call: each person who is left has another call at the moment';
    if (queued.notBefore !== null) return `carrier_busy: the carrier takes no more calls until ${new Date(queued.notBefore).toISOString()}`;
    return null;
  }
  const rooms: string[] = [];
  if (own.most !== null && own.live >= own.most)
    rooms.push(`max_concurrency: ${own.live} of its own calls are live, and it may have ${own.most} at once`);
  if (plan.free <= 0) rooms.push(`call_slots: ${describeSlots(plan)}`);
  if (rooms.length > 0) return rooms.join('; ');
  if (rate.begun >= rate.perSecond)
    return `calls_per_second: ${rate.begun} calls began in the last second, and the telephony configuration allows ${rate.perSecond} a second`;
  return null;
}

function describeSlots({ live, limit }: QueueStatus['plan']): string {
  const taken = `${live} of the ${limit} calls that the plan allows at once are live`;
  return live < limit ? `${taken}, and the others are kept free for inbound calls` : taken;
}
