import { payloadLength } from '../../database/payload.ts';

/** Together the payloads of a portion fit into memory, and into what one look into R2 brings whole. */
const maxBatchLength = 8 * 1024 * 1024;

/** `items` in order, in as few portions as their payloads allow; one that is longer than a portion stands alone. */
export function batchByPayloadSize<Item>(items: readonly Item[], payloadOf: (item: Item) => string): Item[][] {
  const portions: Item[][] = [];
  let left = 0;
  for (const item of items) {
    const length = payloadLength(payloadOf(item));
    if (length > left || !portions.length) {
      portions.push([]);
      left = maxBatchLength;
    }
    portions.at(-1)!.push(item);
    left -= length;
  }
  return portions;
}
