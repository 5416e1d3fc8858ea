import { LocalError } from '../../local/settings.ts';
import type { Order, Run } from '../orders.ts';
import type { Tour, TourStep } from '../step.ts';
import { describePath } from '../describe-path.ts';
import type { HistoryRecord } from '../describe-path.ts';

interface Contact {
  id: number;
  first_name: string | null;
  last_name: string | null;
  phone: string | null;
  tags: string[];
  custom_fields: Record<string, unknown>;
}

interface ReceivedRequest {
  received_at: string;
  body: { order_id?: unknown };
}

export const showOutcome: TourStep = {
  title: 'What became of each contact, and what the warehouse received',
  operation: 'GET /automation-workflows/runs/{run_id}/history',
  async run(tour) {
    for (const [order, run] of tour.notes.read('runs')) await showRun(tour, order, run);
  },
};

async function showRun(tour: Tour, order: Order, run: Run): Promise<void> {
  const { service, baseUrl, say } = tour;
  const contact = await service.get<Contact>(`/contacts/${run.contact_id}`);
  const { history } = await service.get<{ history: HistoryRecord[] }>(`/automation-workflows/runs/${run.id}/history`);
  const seconds = (Date.parse(run.completed_at ?? '') - Date.parse(run.started_at)) / 1000;
  const name = [contact.first_name, contact.last_name].filter(Boolean).join(' ') || 'Name unknown';
  tour.terminal.line('');
  say(`${name}, ${contact.phone}`);
  say(`  order    ${order.orderId}, ${order.amount}, by ${order.from}`);
  say(`  walked   ${describePath(history)}`);
  say(`  ended    ${run.state}, outcome "${run.outcome}", after ${seconds.toFixed(1)} s`);
  say(`  tags     ${contact.tags.join(', ')}`);
  say(`  fields   ${JSON.stringify(contact.custom_fields)}`);
  if (contact.custom_fields.last_order_id !== order.orderId)
    throw new LocalError(
      `contact ${contact.id} has last_order_id ${JSON.stringify(contact.custom_fields.last_order_id)} instead of "${order.orderId}"`,
    );
  if (order.outcome === 'thanked') say(`  posted   ${await warehouseCall(tour, order)}`);
  say(`  contact  ${baseUrl}/contacts/${contact.id}`);
  say(`  run      ${baseUrl}/automation-workflows/runs/${run.id}`);
  say(`  history  ${baseUrl}/automation-workflows/runs/${run.id}/history`);
}

/** What the simulated receiver got of the order: one request in this tour, with the id unharmed. */
async function warehouseCall({ service, simulatorsUrl, startedAt }: Tour, order: Order): Promise<string> {
  const { body } = await service.call<{ requests: ReceivedRequest[] }>(
    'GET',
    `${simulatorsUrl}/__sim/requests?provider=receiver&path=/warehouse/orders/${order.orderId}`,
  );
  const received = body.requests.filter((request) => Date.parse(request.received_at) >= startedAt);
  const [request] = received;
  if (received.length !== 1) throw new LocalError(`the warehouse received order ${order.orderId} ${received.length} times instead of once`);
  if (request?.body.order_id !== order.orderId)
    throw new LocalError(`the warehouse received order ${JSON.stringify(request?.body.order_id)} instead of "${order.orderId}"`);
  return JSON.stringify(request.body);
}
