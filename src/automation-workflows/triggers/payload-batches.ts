import { payloadLength } from '../../database/payload.ts';

/** The payloads of a batch fit into memory together, and into one parallel read of R2. */
const maxBatchLength = 8 * 1024 * 1024;

/** Splits `items`, in order, into as few batches as their payloads allow. An item that is longer than a batch is alone in its batch. */
export function batchByPayloadSize<Item>(items: readonly Item[], payloadOf: (item: Item) => string): Item[][] {
  const batches: Item[][] = [];
  let left = 0;
  for (const item of items) {
    const length = payloadLength(payloadOf(item));
    if (length > left || !batches.length) {
      batches.push([]);
      left = maxBatchLength;
    }
    batches.at(-1)!.push(item);
    left -= length;
  }
  return batches;
}
