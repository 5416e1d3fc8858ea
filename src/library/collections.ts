/** `items` in turns by key: the first of each key, then the second of each, and so on. The items of one key keep their order. */
export function roundRobin<Item>(items: readonly Item[], keyOf: (item: Item) => number): Item[] {
  const lines = [...Map.groupBy(items, keyOf).values()];
  const longest = Math.max(0, ...lines.map((line) => line.length));
  return Array.from({ length: longest }, (_, turn) => lines.flatMap((line) => line.slice(turn, turn + 1))).flat();
}

/** `flatMap` with work that is waited for, one item after the other. */
export async function flatMapSequentially<Item, Result>(items: Iterable<Item>, work: (item: Item) => Promise<Result[]>): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(...(await work(item)));
  return results;
}

/** The items in batches of at most `size`, in their order. */
export const splitIntoBatches = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, batch) => items.slice(batch * size, (batch + 1) * size));

/** The items in as few batches as their sizes allow, in their order. An item that is larger than a batch is alone in its own. */
export function splitBySize<Item>(items: readonly Item[], sizeOf: (item: Item) => number, maxSize: number): Item[][] {
  const batches: Item[][] = [];
  let left = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (size > left || batches.length === 0) {
      batches.push([]);
      left = maxSize;
    }
    batches.at(-1)!.push(item);
    left -= size;
  }
  return batches;
}
