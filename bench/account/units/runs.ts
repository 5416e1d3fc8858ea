import type { Bench } from '../../bench.ts';
import { fireTrigger, postEvent, postParcelArrival, postWebhook, toSenderPhone } from '../../cases/exchanges.ts';
import { startWaitingRuns } from '../../cases/waiting-runs.ts';
import { createJourney, createWebhookJourney, matchedType, unmatchedType } from '../../local/journeys.ts';
import { shortJourney } from '../../local/definitions.ts';
import { waitUntilIdle } from '../../local/wait-until-idle.ts';
import type { Unit } from '../account.ts';

const napJourney = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'nap', type: 'wait', data: { duration: 'PT1S' } },
    { id: 'out', type: 'exit', data: { outcome: 'rested' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'nap' },
    { id: 'b', source: 'nap', target: 'out' },
  ],
};

/** Events, webhooks and runs, of known contacts, each to the end of what follows. */
export async function runUnits(bench: Bench): Promise<Unit[]> {
  const { clients, headers, rig } = bench;
  const database = rig.databases.recording;
  const client = clients.recording;
  const napPath = (await createJourney(client, headers, 'Nap', napJourney, { type: 'manual' })).firePath;
  const refusedPath = await createWebhookJourney(client, headers, 'Nothing passes', shortJourney, {
    filter: { field: 'total', operator: 'lt', value: 0 },
  });
  let number = 0;
  const toTheEnd = async (...exchanges: Parameters<typeof client.call>[0][]) => {
    for (const exchange of exchanges) await client.call(exchange);
    await waitUntilIdle(database);
  };
  const contactOf = async (person: number): Promise<number> =>
    (await database
      .prepare('SELECT id FROM contact WHERE organization_id = 1 AND phone = ?')
      .bind(toSenderPhone(person))
      .first<{ id: number }>())!.id;
  return [
    { name: 'An event that no journey listens to', work: () => toTheEnd(postEvent(bench, unmatchedType, number++)) },
    { name: 'An event that starts a run of 4 nodes', work: () => toTheEnd(postEvent(bench, matchedType, number++)) },
    { name: 'A webhook delivery that the filter leaves', work: () => toTheEnd(postWebhook(number++, refusedPath)) },
    { name: 'A webhook delivery that starts a run of 4 nodes', work: () => toTheEnd(postWebhook(number++, bench.webhookPath)) },
    { name: 'A webhook delivery that starts a run of 6 nodes', work: () => toTheEnd(postWebhook(number++, bench.typicalWebhookPath)) },
    {
      name: 'A run that waits for an event, and the event that wakes it',
      work: async () => {
        const person = number++;
        await startWaitingRuns(bench, database, [person], client);
        await toTheEnd(postParcelArrival(bench, person));
      },
    },
    {
      name: 'A run that waits for a second and ends',
      work: async () => toTheEnd(fireTrigger(bench, napPath, [await contactOf(number++)])),
    },
  ];
}
