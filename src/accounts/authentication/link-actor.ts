import type { Actor } from '../../database/audit/actor.ts';

/** A person who has no session yet, and acts by the token of a link that somebody gave them. */
export const toLinkActor = (
  action: string,
  { organizationId, userId, address, now }: { organizationId: number | null; userId: number; address: string | undefined; now: number },
): Actor => ({
  organizationId,
  requestId: crypto.randomUUID(),
  action,
  userId,
  credential: 'link',
  address: address ?? null,
  at: now,
  record: { type: 'member', id: String(userId) },
  isSummary: false,
});
