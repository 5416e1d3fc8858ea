/** The queued calls of one owner, with every limit that may hold them back. */
export interface QueueStatus {
  /** Why the organization cannot dial at all; null: it can. */
  cannotDialReason: string | null;
  /**
   * The owner's queued calls. `isReady`: one may be dialled at once; `isPersonInCall`: a person is in another call; `notBefore`: when the
   * carrier may be asked again, epoch ms.
   */
  queued: { isReady: boolean; isPersonInCall: boolean; notBefore: number | null };
  /** The owner's live calls, and how many it may have; null: as many as the plan. */
  own: { live: number; maxLive: number | null };
  /** The organization's live calls; `free`: how many more outbound calls may begin. */
  plan: { live: number; limit: number; free: number };
  /** Calls begun within the last second, and how many the carrier takes a second. */
  rate: { begun: number; perSecond: number };
}

/**
 * Why queued calls are not dialled: for each limit that is reached a word, then a sentence for people; null: nothing holds them back.
 * Missing telephony, or queued calls none of which may be dialled, is named alone, since free slots would not help. The rate is named only
 * when no other limit is reached, since a second later it is free again.
 */
export function findBlockingReason({ cannotDialReason, queued, own, plan, rate }: QueueStatus): string | null {
  if (cannotDialReason !== null) return `telephony_not_configured: ${cannotDialReason}`;
  if (!queued.isReady) {
    if (queued.isPersonInCall) return 'in_another_call: each person who is left has another call at the moment';
    if (queued.notBefore !== null) return `carrier_busy: the carrier takes no more calls until ${new Date(queued.notBefore).toISOString()}`;
    return null;
  }
  const reached: string[] = [];
  if (own.maxLive !== null && own.live >= own.maxLive)
    reached.push(`max_concurrency: ${own.live} of its own calls are live, and it may have ${own.maxLive} at once`);
  if (plan.free <= 0) reached.push(`call_slots: ${describeSlots(plan)}`);
  if (reached.length > 0) return reached.join('; ');
  if (rate.begun >= rate.perSecond)
    return `calls_per_second: ${rate.begun} calls began in the last second, and the telephony configuration allows ${rate.perSecond} a second`;
  return null;
}

function describeSlots({ live, limit }: QueueStatus['plan']): string {
  const taken = `${live} of the ${limit} calls that the plan allows at once are live`;
  return live < limit ? `${taken}, and the others are kept free for inbound calls` : taken;
}
