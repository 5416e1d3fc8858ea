/** `flatMap` with work that is waited for, one item after the other. */
export async function flatMapSequentially<Item, Result>(items: Iterable<Item>, work: (item: Item) => Promise<Result[]>): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(...(await work(item)));
  return results;
}
