import type { Bench } from './bench.ts';
import { waitUntilIdle } from './local/wait-until-idle.ts';
import type { HttpExchange } from './load.ts';
import { toRecipe, type CallRecipe, type Markers, type RecordedCall } from './recipe.ts';
import type { Usage } from './usage.ts';
import type { Recipe } from './workers/floor-recipes.ts';

/** The D1 calls and other usage of one dry request and all work that followed from it. */
export interface Recording<Answer> {
  answer: Answer;
  calls: RecordedCall[];
  usage: Usage;
  from: number;
  to: number;
}

/** The D1 calls since the previous `recordedCalls`. */
export const recordedCalls = ({ clients }: Bench): Promise<RecordedCall[]> => clients.recording.json({ method: 'GET', path: '/recorded' });

/** The other usage since the previous `recordedUsage`. */
export const recordedUsage = ({ clients }: Bench): Promise<Usage> => clients.recording.json({ method: 'GET', path: '/usage' });

export async function record<Answer>(bench: Bench, exchange: HttpExchange): Promise<Recording<Answer>> {
  const { clients, headers, rig } = bench;
  // A read first, so that the API key is cached and its look-up does not count for the case.
  await clients.recording.call({ method: 'GET', path: '/api/v1/contacts?limit=1', headers });
  await recordedCalls(bench);
  await recordedUsage(bench);
  const from = Date.now();
  const answer = await clients.recording.json<Answer>(exchange);
  await waitUntilIdle(rig.databases.recording);
  return { answer, calls: await recordedCalls(bench), usage: await recordedUsage(bench), from, to: Date.now() };
}

/** The recorded calls made by the request and by the queue's consumer, and what ended the run if there was one. */
export function fullRecipe({ calls, from, to }: Recording<unknown>, values: Markers['values'], nodes: number): Recipe {
  const recipes = (some: RecordedCall[]): CallRecipe[] => some.map((call) => toRecipe(call, { values, from, to }));
  const by = (origin: RecordedCall['by']) => calls.filter((call) => call.by === origin);
  return { request: recipes(by('request')), queue: recipes(by('queue')), object: recipes(findRunEndCalls(by('object'))), nodes };
}

/** The call that writes the end of a run into its row, by the consumer that completes it at once or by its object; none when no run was started. */
export const findRunEndCalls = (calls: RecordedCall[]): RecordedCall[] =>
  calls.filter(({ by, statements }) => by !== 'request' && statements.some(({ sql }) => sql.startsWith('UPDATE automation_run'))).slice(-1);

/** The one recorded call with such a statement. That there is another or none means that the floor no longer fits the service. */
export function onlyCall(calls: RecordedCall[], by: RecordedCall['by'], beginning: string): RecordedCall {
  const found = calls.filter((call) => call.by === by && call.statements.some(({ sql }) => sql.startsWith(beginning)));
  if (found.length === 1) return found[0]!;
  throw new Error(`The service made ${found.length} calls by ${by} with "${beginning} ...", and the floor is made for one`);
}

export async function postRecipe({ clients }: Bench, name: string, recipe: Recipe): Promise<void> {
  await clients.floor.call({ method: 'PUT', path: `/recipes/${name}`, body: JSON.stringify(recipe) });
}

/** Calls to D1 and the rows that they read and wrote. */
export interface Cost {
  calls: number;
  rowsRead: number;
  rowsWritten: number;
}

export function sumCost(calls: RecordedCall[]): Cost {
  const sum = (of: (call: RecordedCall) => number) => calls.reduce((total, call) => total + of(call), 0);
  return { calls: calls.length, rowsRead: sum((call) => call.rowsRead), rowsWritten: sum((call) => call.rowsWritten) };
}

/** What a thing accepted costs D1: until it is answered, until it is handled or its run has started, and until the run is over. */
export interface AcceptedCost {
  name: string;
  answered: Cost;
  handled: Cost;
  ended: Cost;
}

export const toAcceptedCost = (name: string, calls: RecordedCall[]): AcceptedCost => ({
  name,
  answered: sumCost(calls.filter(({ by }) => by === 'request')),
  handled: sumCost(calls.filter(({ by }) => by !== 'object')),
  ended: sumCost(calls),
});

/** The floor's D1 cost since the previous `floorCost`, without the rows that the benchmark itself wrote for `completions` of runs. */
export async function floorCost({ clients }: Bench, completions = 0): Promise<Cost> {
  const cost = await clients.floor.json<Cost>({ method: 'GET', path: '/counts' });
  return { ...cost, rowsWritten: cost.rowsWritten - completions };
}

/** Throws when the floor makes other D1 calls than the service: the comparison would be wrong. */
export function requireSameCost(name: string, service: Cost, floor: Cost): void {
  if (service.calls === floor.calls && service.rowsWritten === floor.rowsWritten) return;
  const shown = ({ calls, rowsWritten }: Cost) => `${calls} calls that write ${rowsWritten} rows`;
  throw new Error(`${name}: the service made ${shown(service)}, the floor ${shown(floor)}`);
}
