/** `items` in turns by `failedMessageKey`: the first of each key, then the second of each, and so on; those of one key keep their order. */
export function roundRobin<Item>(items: readonly Item[], keyOf: (item: Item) => number): Item[] {
  const lines = [...Map.groupBy(items, keyOf).values()];
  const longest = Math.max(0, ...lines.map((line) => line.length));
  return Array.from({ length: longest }, (_, turn) => lines.flatMap((line) => line.slice(turn, turn + 1))).flat();
}
