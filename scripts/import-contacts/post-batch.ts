import { requestWithRetries, RequestRefused } from '../local/request-with-retries.ts';
import type { OnRetry, Target } from '../local/request-with-retries.ts';

export interface UpsertResult {
  created: number;
  updated: number;
  failed: number;
  errors: { index: number; phone: string | null; external_id: string | null; detail: string; message: string }[];
  list_created: boolean;
}

/**
 * Posts one batch and repeats it under the same idempotency key until it is answered: a lost answer is not a second import.
 * `onWait` hears of each pause. Throws `RequestRefused`.
 */
export async function postBatch(target: Target, body: string, idempotencyKey: string, onWait: OnRetry): Promise<UpsertResult> {
  return readResult(await requestWithRetries(target, { method: 'POST', path: '/contacts/bulk-upsert', body, idempotencyKey }, onWait));
}

function readResult(text: string): UpsertResult {
  try {
    const result = JSON.parse(text) as UpsertResult;
    if (Number.isInteger(result.created) && Number.isInteger(result.updated) && Array.isArray(result.errors)) return result;
  } catch {
    // Said below: whatever answered is not the service.
  }
  throw new RequestRefused(`what answers there is not this service: ${text.slice(0, 80)}`, true);
}
