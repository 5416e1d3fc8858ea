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
