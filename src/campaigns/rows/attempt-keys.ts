import { attemptKey } from '../../calls/contract.ts';
import type { Owner } from '../../calls/contract.ts';

export const campaignOwner = (campaignId: number): Owner => ({ kind: 'campaign', id: campaignId });

/** `attempt` counts the calls that a row has behind it, and this one. It stays the same until the call has been dialled and has ended. */
export const rowAttemptKey = (campaignId: number, rowNumber: number, attempt: number): string =>
  attemptKey(campaignOwner(campaignId), `${rowNumber}:${attempt}`);

const rowAttemptKeyPattern = /^campaign:(\d+):(\d+):(\d+)$/;

/** Which row's attempt a key names; null for a key that is not of this campaign. */
export function parseRowAttemptKey(campaignId: number, key: string): { rowNumber: number; attempt: number } | null {
  const [, id, rowNumber, attempt] = rowAttemptKeyPattern.exec(key) ?? [];
  return Number(id) === campaignId ? { rowNumber: Number(rowNumber), attempt: Number(attempt) } : null;
}

/** What waits for calls at the slots: enough that a slot that falls free is filled at once. */
export const maxRequestedCalls = (maxConcurrency: number): number => Math.min(maxConcurrency * 2 + 20, 1200);
