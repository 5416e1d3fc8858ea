import { attemptKey } from '../../calls/contract.ts';
import type { Owner } from '../../calls/contract.ts';

export const campaignOwner = (campaignId: number): Owner => ({ kind: 'campaign', id: campaignId });

/** The key of a row's attempt. `attempt` is the number of the call, from 1; it grows when a call has ended. */
export const rowAttemptKey = (campaignId: number, rowNumber: number, attempt: number): string =>
  attemptKey(campaignOwner(campaignId), `${rowNumber}:${attempt}`);

const rowAttemptKeyPattern = /^campaign:(\d+):(\d+):(\d+)$/;

/** The row and the attempt that a key names; null for a key of another campaign. */
export function parseRowAttemptKey(campaignId: number, key: string): { rowNumber: number; attempt: number } | null {
  const [, id, rowNumber, attempt] = rowAttemptKeyPattern.exec(key) ?? [];
  return Number(id) === campaignId ? { rowNumber: Number(rowNumber), attempt: Number(attempt) } : null;
}

/** How many calls a campaign requests at most at the same time: enough that a free call slot is filled at once. */
export const maxRequestedCalls = (maxConcurrency: number): number => Math.min(maxConcurrency * 2 + 20, 1200);
