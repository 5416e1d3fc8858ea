import type { MessageStatus } from '../../providers/messaging/messaging.ts';

/** The statuses of a message; a provider may have further words for an accepted message. */
export type KnownStatus = MessageStatus | 'sending' | 'unknown';

const ranks: Record<KnownStatus, number> = { sending: 0, unknown: 1, accepted: 2, sent: 3, failed: 4, delivered: 5, read: 6 };

/**
 * The rank of a status: a message never moves to a lower rank. `read` ranks highest, because a read message was delivered. A provider's
 * own word ranks as `accepted`, below `sent`.
 */
export const rankOf = (status: string): number => ranks[status as KnownStatus] ?? ranks.accepted;

/** No request to a provider takes longer. */
const maxSendingMs = 60_000;

/** The moment (epoch ms) before which a message must have been `sending` to have expired: its worker has died. */
export const sendingExpiredBefore = (now: number): number => now - maxSendingMs;

/** The status to show: an expired `sending` is `unknown`, because nobody knows whether the message was sent. */
export const displayStatus = ({ status, updatedAt }: { status: string; updatedAt: number }, now: number): string =>
  status === 'sending' && updatedAt < sendingExpiredBefore(now) ? 'unknown' : status;
