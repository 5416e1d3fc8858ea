import pMap from 'p-map';
import { invalidAt } from '../library/errors.ts';

// A payload is the JSON of an accepted input: an event's data, a webhook's body, a run's context. It is stored once, as text in its row or,
// when large, as an object in R2 with a pointer in the row. JSON never begins with "@", so no caller's payload can pass for a pointer.
const pointer = '@r2:';
const inlineLimitBytes = 64 * 1024;
/** How much one answer may fetch from R2 before the remaining large payloads are shown as cut. */
const answerBudgetBytes = 16 * 1024 * 1024;
const parallelFetches = 6;

/** Whether `storePayload` writes this JSON to R2. */
export const isFilePayload = (json: string): boolean =>
  json.length > inlineLimitBytes / 4 && new TextEncoder().encode(json).byteLength > inlineLimitBytes;

/** The text to store in a row for `json`: the JSON itself, or a pointer to the R2 object that this call has written. */
export async function storePayload(bucket: R2Bucket, key: () => string, json: string): Promise<string> {
  if (!isFilePayload(json)) return json;
  const name = `payloads/${key()}.json`;
  await bucket.put(name, json, { httpMetadata: { contentType: 'application/json' } });
  return `${pointer}${json.length}:${name}`;
}

/** The length in characters of the JSON behind `stored`. */
export const payloadLength = (stored: string): number => (stored.startsWith(pointer) ? parsePointer(stored).bytes : stored.length);

/** The payload's key in R2; null: the row itself has the payload. */
export const payloadKey = (stored: string): string | null => (stored.startsWith(pointer) ? parsePointer(stored).name : null);

/** Throws 422 when `json` is over `limitBytes`. */
export function requirePayloadSize(json: string, limitBytes: number, loc: string[]): void {
  if (json.length <= limitBytes / 4) return;
  const bytes = new TextEncoder().encode(json).byteLength;
  if (bytes > limitBytes) throw invalidAt(loc, `Is ${bytes} bytes of JSON; at most ${limitBytes}`, 'too_large');
}

/** A payload that will never be there again: trying again ends in the same way. */
export class PayloadGoneError extends Error {
  override readonly name = 'PayloadGoneError';
}

/** Throws PayloadGoneError. */
export async function resolvePayload<T = unknown>(bucket: R2Bucket, stored: string): Promise<T> {
  if (!stored.startsWith(pointer)) return parsePayload(stored, 'the payload in the row') as T;
  const { name } = parsePointer(stored);
  const object = await bucket.get(name);
  if (!object) throw new PayloadGoneError(`payload ${name} is not in storage`);
  return parsePayload(await object.text(), `payload ${name}`) as T;
}

function parsePayload(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PayloadGoneError(`${name} is damaged: it is not JSON any more`);
  }
}

const toGoneMarker = (error: unknown): { _gone: string } => {
  if (error instanceof PayloadGoneError) return { _gone: error.message };
  throw error;
};

/** As `resolvePayload`; a missing payload is `{ _gone: why }`. */
export const showPayload = (bucket: R2Bucket, stored: string): Promise<unknown> => resolvePayload(bucket, stored).catch(toGoneMarker);

/** As `resolvePayloads`; a missing payload is `{ _gone: why }`, and the others are loaded. */
export const showPayloads = (bucket: R2Bucket, stored: (string | null)[]): Promise<unknown[]> => resolveAll(bucket, stored, showPayload);

/** Several payloads for one answer, in order; null stays null. Large ones beyond the answer's budget are shown as cut. Throws PayloadGoneError. */
export const resolvePayloads = (bucket: R2Bucket, stored: (string | null)[]): Promise<unknown[]> =>
  resolveAll(bucket, stored, resolvePayload);

async function resolveAll(bucket: R2Bucket, stored: (string | null)[], resolve: typeof showPayload): Promise<unknown[]> {
  const resolved: unknown[] = Array.from({ length: stored.length });
  const waiting: number[] = [];
  let budget = answerBudgetBytes;
  for (const [index, text] of stored.entries()) {
    if (text === null || !text.startsWith(pointer)) {
      resolved[index] = text === null ? null : await resolve(bucket, text);
      continue;
    }
    const { bytes } = parsePointer(text);
    budget -= bytes;
    if (budget >= 0) waiting.push(index);
    else resolved[index] = { _cut: `${bytes} bytes; read the record alone to see it` };
  }
  await pMap(waiting, async (index) => (resolved[index] = await resolve(bucket, stored[index]!)), { concurrency: parallelFetches });
  return resolved;
}

function parsePointer(stored: string): { bytes: number; name: string } {
  const [bytes, ...name] = stored.slice(pointer.length).split(':');
  return { bytes: Number(bytes), name: name.join(':') };
}
