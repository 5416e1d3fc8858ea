import type { MessageStatus } from '../../providers/messaging/messaging.ts';

/** What a message is on its way, beside the words that a provider has for what it has taken. */
export type KnownStatus = MessageStatus | 'sending' | 'unknown';

const ranks: Record<KnownStatus, number> = { sending: 0, unknown: 1, accepted: 2, sent: 3, failed: 4, delivered: 5, read: 6 };

/**
 * How far a message with this status has come; one that has come farther never goes back. Who has read a message has got it, whatever else
 * is told. A word of a provider's own stands before `sent`.
 */
export const rankOf = (status: string): number => ranks[status as KnownStatus] ?? ranks.accepted;

/** Longer than any request to a provider takes. */
const maxSendingMs = 60_000;

/** Until when (epoch ms) a message must have been written last, so that its `sending` can no longer come to an end. */
export const sendingExpiredBefore = (now: number): number => now - maxSendingMs;

/** As it is shown: whoever was sending for too long has died, and nobody can say whether it was sent. */
export const displayStatus = ({ status, updatedAt }: { status: string; updatedAt: number }, now: number): string =>
  status === 'sending' && updatedAt < sendingExpiredBefore(now) ? 'unknown' : status;
