import type { Client } from '../load.ts';

/** Trigger, condition, set_context, exit. */
const definition = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'large', type: 'condition', data: { condition: { field: 'total', operator: 'gt', value: 100 } } },
    { id: 'set', type: 'set_context', data: { assign: { size: 'large', doubled: '{{ total | times: 2 }}' } } },
    { id: 'out', type: 'exit', data: { outcome: 'seen' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'large' },
    { id: 'b', source: 'large', target: 'set', source_handle: 'true' },
    { id: 'c', source: 'large', target: 'out', source_handle: 'false' },
    { id: 'd', source: 'set', target: 'out' },
  ],
};

export const matchedType = 'order_paid';
export const unmatchedType = 'page_viewed';
export const webhookSecret = 'a secret shared with the sender of the webhooks';

export interface Journeys {
  webhookPath: string;
}

/** Two active journeys of one graph: on events of the matched type, and on signed webhooks. */
export async function createJourneys(service: Client, headers: Record<string, string>): Promise<Journeys> {
  const create = async (name: string, trigger: object): Promise<number> => {
    const body = JSON.stringify({ name, definition, trigger });
    const { id } = await service.json<{ id: number }>({ method: 'POST', path: '/api/v1/automation-workflows', headers, body });
    const path = `/api/v1/automation-workflows/${id}`;
    await service.call({ method: 'PATCH', path, headers, body: JSON.stringify({ status: 'active' }) });
    return id;
  };
  await create('On event', { type: 'contact_event', config: { event_types: [matchedType] } });
  const id = await create('On webhook', {
    type: 'webhook',
    config: {
      auth: { type: 'hmac_sha256', header: 'X-Signature', secret: webhookSecret },
      delivery_id: 'X-Delivery-Id',
      mapping: { phone: 'customer.phone' },
    },
  });
  const path = `/api/v1/automation-workflows/${id}/triggers`;
  const { triggers } = await service.json<{ triggers: { webhook_url: string }[] }>({ method: 'GET', path, headers });
  return { webhookPath: new URL(triggers[0]!.webhook_url).pathname };
}
