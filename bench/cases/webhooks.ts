import type { Bench, Result } from '../bench.ts';
import { shortJourney } from '../local/definitions.ts';
import { toAcceptedCost, postRecipe, type AcceptedCost } from '../record.ts';
import { measureWebhookRuns, recordWebhook } from './webhook-runs.ts';

/** Signed webhook to completed run of four nodes, which only decide, so that the run needs no object. */
export async function measureWebhooks(bench: Bench): Promise<{ results: Result[]; costs: AcceptedCost[] }> {
  const { recording, part } = await recordWebhook(bench, bench.webhookPath);
  // Of the service's calls the floor keeps the ones that store the delivery with its contact, insert the run and end it.
  await postRecipe(bench, 'short', {
    request: [{ ...part('request', 'INSERT INTO webhook_delivery'), learns: { delivery_id: 'id', contact_id: 'contact_id' } }],
    queue: [part('queue', 'INSERT INTO automation_run'), part('queue', 'UPDATE automation_run')],
    object: [],
    nodes: shortJourney.nodes.length,
  });
  const floorDoes = 'one insert that finds the contact, the queue, one insert of the run and one update that ends it';
  const paths = { service: bench.webhookPath, floor: '/webhooks/short' };
  return {
    costs: [toAcceptedCost('Signed webhook', recording.calls)],
    results: await measureWebhookRuns(bench, 'Webhook to completed run', paths, floorDoes),
  };
}
