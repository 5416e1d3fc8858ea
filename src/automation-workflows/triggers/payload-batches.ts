import { payloadLength } from '../../database/payload.ts';
import { splitBySize } from '../../library/collections.ts';

/** The payloads of a batch fit into memory together, and into one parallel read of R2. */
const maxBatchLength = 8 * 1024 * 1024;

/** Splits `items`, in order, into as few batches as their payloads allow. An item that is longer than a batch is alone in its batch. */
export const batchByPayloadSize = <Item>(items: readonly Item[], payloadOf: (item: Item) => string): Item[][] =>
  splitBySize(items, (item) => payloadLength(payloadOf(item)), maxBatchLength);
