import { measureAlternately, bothSides, connections, type Bench } from '../bench.ts';
import { accounts, SimulatedCarrier } from '../local/carrier.ts';
import { load, type HttpExchange } from '../load.ts';
import type { TargetedFigure } from '../targets.ts';
import { Campaign, toCampaignFile, waitUntil } from './campaigns.ts';

/** Of a line that is busy the carrier tells that it dials, and the end; that there is no recording goes elsewhere. */
const callbacksPerCall = 2;

/** Signed callbacks of calls that are all live when they begin to come. Those of the floor are the service's of the round before. */
export async function measureCallbacks(bench: Bench): Promise<TargetedFigure[]> {
  const { callbackCalls: calls, callbackRounds } = bench.pace;
  bench.progress(`Callbacks of ${calls} live calls`);
  const { floor } = bench.clients;
  const carrier = { authToken: accounts.service.authToken, origin: bench.rig.origins.service.origin };
  await floor.call({ method: 'PUT', path: '/carrier', body: JSON.stringify(carrier) });
  let callbacks: HttpExchange[] = [];
  const perSecond = await measureAlternately(callbackRounds, bothSides, async (side) => {
    if (side === 'floor' && callbacks.length) return (await load(floor, callbacks, connections)).perSecond;
    const result = await sendCallbacks(bench, calls);
    callbacks = result.callbacks;
    return side === 'service' ? result.perSecond : (await load(floor, callbacks, connections)).perSecond;
  });
  return [
    {
      name: `Callbacks to one object, of ${calls} live calls over ${connections} connections`,
      unit: '/s',
      target: { atLeast: 300 },
      ...perSecond,
      floorDoes: 'checks the signature of the same requests and writes a row into one object',
    },
  ];
}

/** Places `calls` calls while the carrier holds its callbacks, then sends all callbacks at once. */
export async function sendCallbacks(bench: Bench, calls: number): Promise<{ callbacks: HttpExchange[]; perSecond: number }> {
  const carrier = new SimulatedCarrier(bench.rig.outside);
  await carrier.behave({ callbacks: 'hold', ring_ms: 50 });
  const campaign = await Campaign.draft(bench, 'service', toCampaignFile(0, calls, 'busy'), calls);
  await campaign.act('start');
  const beginnings: HttpExchange[] = [];
  const ends: HttpExchange[] = [];
  const areAllDue = async () => {
    for (const { event, url, headers, body } of await carrier.due(accounts.service)) {
      if (event === 'recording') continue;
      const { pathname, search } = new URL(url);
      (event === 'ended' ? ends : beginnings).push({ method: 'POST', path: pathname + search, headers, body });
    }
    return beginnings.length + ends.length === calls * callbacksPerCall;
  };
  await waitUntil('every call is placed', 60_000, areAllDue, 0);
  await waitUntil('every call is known to be placed', 10_000, async () => (await campaign.progress()).waiting?.live === calls);
  const callbacks = [...beginnings, ...ends];
  const { perSecond } = await load(bench.clients.service, callbacks, connections);
  await waitUntil('every row is done', 60_000, async () => (await campaign.read()).state === 'completed');
  return { callbacks, perSecond };
}
