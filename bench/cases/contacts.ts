import { measureAlternately, bothSides, connections, type Bench, type Result, type Side } from '../bench.ts';
import { load, type HttpExchange, type Sample } from '../load.ts';
import { toRecipe, toVerbatimRecipe, type RecordedCall } from '../recipe.ts';
import { sumCost, floorCost, postRecipe, record, requireSameCost } from '../record.ts';
import { getContacts, postUpsert, rowsPerRequest, upsertPath } from './exchanges.ts';

/** Bulk upserts into a list until the organization has 20,000 contacts, and each of them once more. */
export async function measureBulkUpserts(bench: Bench): Promise<Result[]> {
  bench.progress('POST /contacts/bulk-upsert');
  const onAll = async (page: number, sides: Side[]) => {
    const { calls } = await record(bench, postUpsert(bench, page));
    const times = new Map<Side, Sample>();
    for (const side of sides)
      times.set(side, await load(bench.clients[side], [side === 'service' ? postUpsert(bench, page) : replay(calls)], 1));
    requireSameCost(upsertPath, sumCost(calls), await floorCost(bench));
    return times;
  };
  // The first page makes the list and fills the caches.
  await onAll(0, ['service', 'floor']);
  const added: Record<Side, Sample[]> = { service: [], floor: [] };
  for (const page of [1, 2, 3])
    for (const [side, sample] of await onAll(page, page % 2 ? ['service', 'floor'] : ['floor', 'service'])) added[side].push(sample);
  const repeated: Record<Side, Sample[]> = { service: [], floor: [] };
  for (let round = 0; round < bench.pace.repeatRounds; round++)
    for (const [side, sample] of await onAll(round % 4, round % 2 ? ['floor', 'service'] : ['service', 'floor']))
      repeated[side].push(sample);
  const floorDoes = 'the same statements with the parameters ready, rows answered as they are';
  return [
    { name: `POST /contacts/bulk-upsert, ${rowsPerRequest} new`, floorDoes, compares: 'rate', ...added },
    { name: `POST /contacts/bulk-upsert, the same ${rowsPerRequest} again`, floorDoes, compares: 'rate', ...repeated },
  ];
}

const replay = (calls: RecordedCall[]): HttpExchange => ({
  method: 'POST',
  path: '/contacts/bulk-upsert',
  body: JSON.stringify({ calls: calls.map(toVerbatimRecipe) }),
});

/** GET /contacts of an organization of 20,000. */
export async function measureContactPages(bench: Bench): Promise<Result[]> {
  const results: Result[] = [];
  for (const [recipe, name, query] of [
    ['first', 'first page', 'limit=50'],
    ['search', 'search', 'limit=50&search=hopper'],
    ['deep', 'page at offset 15,000', 'limit=50&offset=15000'],
  ] as const) {
    bench.progress(`GET /contacts, ${name}`);
    const page = getContacts(bench, query);
    const { calls, from, to } = await record<{ contacts: unknown[] }>(bench, page);
    const request = calls.map((call) => toRecipe(call, { values: {}, from, to }));
    await postRecipe(bench, recipe, { request, queue: [], object: [], nodes: 0 });
    const floorPage: HttpExchange = { method: 'GET', path: `/contacts/${recipe}` };
    await floorCost(bench);
    await bench.clients.floor.call(floorPage);
    requireSameCost(page.path, sumCost(calls), await floorCost(bench));
    const samples = await measureAlternately(bench.pace.rounds, bothSides, (side) =>
      load(
        bench.clients[side],
        Array.from({ length: bench.pace.pages }, () => (side === 'service' ? page : floorPage)),
        connections,
      ),
    );
    results.push({
      name: `GET /contacts, ${name}`,
      floorDoes: 'the same statements, rows answered as they are',
      compares: 'rate',
      ...samples,
    });
  }
  return results;
}
