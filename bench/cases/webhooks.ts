import type { Bench, Result } from '../bench.ts';
import { shortJourney } from '../local/definitions.ts';
import { toAcceptedCost, postRecipe, type AcceptedCost } from '../record.ts';
import { measureWebhookRuns, recordWebhook } from './webhook-runs.ts';

/** Signed webhook to completed run of four nodes. */
export async function measureWebhooks(bench: Bench): Promise<{ results: Result[]; costs: AcceptedCost[] }> {
  const { recording, part } = await recordWebhook(bench, bench.webhookPath);
  // Of the service's calls the floor keeps the ones that find the contact, store the delivery, insert the run and end it.
  await postRecipe(bench, 'short', {
    request: [
      { ...part('request', 'SELECT c.id, c.organization_id'), learns: { contact_id: 'id' } },
      { ...part('request', 'INSERT INTO webhook_delivery'), learns: { delivery_id: 'id' } },
    ],
    queue: [part('queue', 'INSERT INTO automation_run')],
    object: [part('object', 'UPDATE automation_run')],
    nodes: shortJourney.nodes.length,
  });
  const floorDoes = 'finds the contact, one insert, the queue, one insert of the run, its object writes 5 rows and then the row of the run';
  const paths = { service: bench.webhookPath, floor: '/webhooks/short' };
  return {
    costs: [toAcceptedCost('Signed webhook', recording.calls)],
    results: await measureWebhookRuns(bench, 'Webhook to completed run', paths, floorDoes),
  };
}
