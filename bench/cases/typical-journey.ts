import type { Bench, Result } from '../bench.ts';
import { typicalJourney } from '../local/definitions.ts';
import { workerdSeconds } from '../local/processor-time.ts';
import { resetReceiver, requireReceiverCalls } from '../receiver.ts';
import { toAcceptedCost, sumCost, floorCost, postRecipe, requireSameCost, type AcceptedCost } from '../record.ts';
import type { RunUse } from '../run-cost.ts';
import { measureWebhookRuns, recordWebhook, runWebhooks, type RecordedWebhook } from './webhook-runs.ts';

const name = 'Webhook to completed run of 6 nodes';
const floorDoes =
  'finds the contact, one insert, the queue, one insert of the run, its object writes 7 rows, then the contact, calls out, then the row of the run';

interface Measured {
  results: Result[];
  costs: AcceptedCost[];
  use: RunUse;
}

/** Signed webhook to completed run of six nodes, of which one writes to the contact and one calls out, and what such a run uses. */
export async function measureTypicalJourney(bench: Bench): Promise<Measured> {
  const recorded = await recordWebhook(bench, bench.typicalWebhookPath);
  await giveTypicalRecipe(bench, recorded);
  await resetReceiver(bench);
  const paths = { service: bench.typicalWebhookPath, floor: '/webhooks/typical' };
  const results = await measureWebhookRuns(bench, name, paths, floorDoes);
  const { webhooks, rounds, steadyWebhooks, steadyRounds } = bench.pace;
  // The warm-up rounds make outside calls, too.
  const runs = webhooks * (rounds + 1) + steadyWebhooks * (steadyRounds + 1);
  for (const side of ['service', 'floor']) await requireReceiverCalls(bench, `/${side}`, runs);
  const { calls, usage } = recorded.recording;
  const d1Of = (isOfRun: boolean) => sumCost(calls.filter(({ by }) => (by === 'object') === isOfRun));
  const use = { ...usage, d1BeforeRun: d1Of(false), d1OfRun: d1Of(true), processorMs: await processorMsOfRun(bench) };
  return { results, costs: [toAcceptedCost('Signed webhook, 6 nodes', calls)], use };
}

/** Of the service's calls the floor keeps the ones that find the contact, store the delivery, insert the run, write the contact and end the run. */
async function giveTypicalRecipe(bench: Bench, { part, parts }: RecordedWebhook): Promise<void> {
  await postRecipe(bench, 'typical', {
    request: [{ ...part('request', 'INSERT INTO webhook_delivery'), learns: { delivery_id: 'id', contact_id: 'contact_id' } }],
    queue: [part('queue', 'INSERT INTO automation_run')],
    object: [part('object', 'UPDATE automation_run')],
    nodes: typicalJourney('').nodes.length,
    steps: {
      calls: [{ ...part('object', 'SELECT c.id, c.organization_id'), learns: { revision: 'revision' } }, part('object', 'UPDATE contact')],
      url: `${bench.rig.receiver}/floor`,
    },
  });
  // The first notes the contact's new field.
  await runWebhooks(bench, 'floor', '/webhooks/typical', 1, 0);
  await floorCost(bench);
  await runWebhooks(bench, 'floor', '/webhooks/typical', 1, 0);
  requireSameCost(name, sumCost(parts), await floorCost(bench, 1));
}

async function processorMsOfRun(bench: Bench): Promise<number> {
  const { webhooks } = bench.pace;
  const before = workerdSeconds();
  await runWebhooks(bench, 'service', bench.typicalWebhookPath, webhooks, 0);
  return ((workerdSeconds() - before) / webhooks) * 1000;
}
