import { Buffer } from 'node:buffer';

/** Well under the 2 MB that D1 takes as one value. */
const chunkBytes = 900_000;

/** The rows as JSON lists for `json_each(?)`, as few as their size allows. */
export function jsonChunks(rows: unknown[]): string[] {
  const chunks: string[] = [];
  let parts: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    const size = Buffer.byteLength(text) + 1;
    if (parts.length && bytes + size > chunkBytes) {
      chunks.push(`[${parts.join(',')}]`);
      parts = [];
      bytes = 0;
    }
    parts.push(text);
    bytes += size;
  }
  if (parts.length) chunks.push(`[${parts.join(',')}]`);
  return chunks;
}
