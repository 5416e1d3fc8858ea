import { measureAlternately, connections, type Bench, type Result } from '../bench.ts';
import { shortJourney } from '../local/definitions.ts';
import { matchedType, unmatchedType } from '../local/journeys.ts';
import { waitUntilIdle } from '../local/wait-until-idle.ts';
import { load } from '../load.ts';
import {
  toAcceptedCost,
  sumCost,
  findRunEndCalls,
  floorCost,
  fullRecipe,
  postRecipe,
  record,
  requireSameCost,
  type AcceptedCost,
  type Recording,
} from '../record.ts';
import { toEventData, toSenderPhone, postEvent } from './exchanges.ts';

/** POST /events for known contacts, without and with an active journey that matches. */
export async function measureEvents(bench: Bench): Promise<{ results: Result[]; costs: AcceptedCost[] }> {
  const [unmatched, matched] = ['POST /events, no journey matches', 'POST /events, a journey matches'];
  const costs = [await giveEventRecipes(bench, unmatchedType, unmatched), await giveEventRecipes(bench, matchedType, matched)];
  const { events, matchedEvents } = bench.pace;
  bench.progress(unmatched);
  const { service, floor, accepting } = await measureType(bench, unmatchedType, events, ['service', 'floor', 'accepting']);
  bench.progress(matched);
  const withJourney = await measureType(bench, matchedType, matchedEvents, ['service', 'floor']);
  const everything = 'the same statements, the same queue and consumer';
  return {
    costs,
    results: [
      { name: unmatched, floorDoes: everything, compares: 'rate', service, floor },
      { name: unmatched, floorDoes: "the request's own statements, nothing after the answer", compares: 'rate', service, floor: accepting },
      { name: matched, floorDoes: `${everything}, which ends the run`, compares: 'rate', ...withJourney },
    ],
  };
}

/** `accepting` is a floor that sends nothing to the queue. */
type EventSide = 'service' | 'floor' | 'accepting';

async function measureType<Name extends EventSide>(bench: Bench, type: string, requests: number, sides: Name[]) {
  const paths = { service: '/api/v1/events', floor: `/events/${type}`, accepting: `/events/${type}-accepted` };
  return measureAlternately(bench.pace.rounds, sides, async (side, round) => {
    const exchanges = Array.from({ length: requests }, (_, index) => postEvent(bench, type, round * requests + index, paths[side]));
    const sample = await load(bench.clients[side === 'service' ? 'service' : 'floor'], exchanges, connections);
    await (side === 'accepting' ? markAll(bench) : waitUntilIdle(bench.rig.databases[side as 'service' | 'floor']));
    return sample;
  });
}

async function giveEventRecipes(bench: Bench, type: string, name: string): Promise<AcceptedCost> {
  const { recording, markers } = await recordEvent(bench, type);
  const recipe = fullRecipe(recording, markers, shortJourney.nodes.length);
  await postRecipe(bench, type, recipe);
  await postRecipe(bench, `${type}-accepted`, { ...recipe, queue: [] });
  await floorCost(bench);
  await bench.clients.floor.call(postEvent(bench, type, 0, `/events/${type}`));
  await waitUntilIdle(bench.rig.databases.floor);
  const { calls } = recording;
  const ending = findRunEndCalls(calls);
  const endsInObject = ending.filter(({ by }) => by === 'object');
  requireSameCost(name, sumCost([...calls.filter(({ by }) => by !== 'object'), ...endsInObject]), await floorCost(bench, ending.length));
  return toAcceptedCost(name, calls);
}

/** Marks the events of the `accepting` floor as handled, since nothing handles them. */
async function markAll({ rig }: Bench): Promise<void> {
  await rig.databases.floor.prepare('UPDATE event SET handled_at = created_at WHERE handled_at IS NULL').run();
}

async function recordEvent(bench: Bench, type: string) {
  // The first of its type also writes the type down.
  await record(bench, postEvent(bench, type, 1));
  const recording: Recording<{ event_id: number; contact_id: number }> = await record(bench, postEvent(bench, type, 2));
  const run = await bench.rig.databases.recording.prepare('SELECT max(id) AS id FROM automation_run').first<{ id: number }>();
  const { event_id, contact_id } = recording.answer;
  return { recording, markers: { phone: toSenderPhone(2), data: JSON.stringify(toEventData(2)), event_id, contact_id, run_id: run!.id } };
}
