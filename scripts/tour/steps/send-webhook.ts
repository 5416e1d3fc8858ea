import { randomUUID } from 'node:crypto';
import { parseJson } from '../../../src/library/json/json.ts';
import { LocalError } from '../../local/settings.ts';
import { readExample } from '../examples.ts';
import { shopifyHeaders } from '../shopify-signature.ts';
import type { TourStep } from '../step.ts';

interface Delivered {
  delivery_id: string;
  duplicate: boolean;
  detail?: string;
}

interface ShopifyOrder {
  id: string;
  total_price: string;
  currency: string;
}

const file = 'webhooks/shopify-orders-create.json';

export const sendWebhook: TourStep = {
  title: 'Deliver an order as a signed webhook: with a wrong signature, with the right one, and once more',
  operation: 'POST /automation-workflows/webhook/{trigger_uuid}',
  async run({ service, say, notes }) {
    const { url, secret } = notes.read('webhook');
    const body = readExample(file);
    const deliveryId = randomUUID();
    const deliver = (key: string) => service.call<Delivered>('POST', url, body, shopifyHeaders(key, body, deliveryId));

    const refused = await deliver('not-the-secret');
    if (refused.status !== 401) throw new LocalError(`a delivery with a wrong signature was answered ${refused.status} instead of 401`);
    say(`Wrong signature: 401, ${refused.body.detail}`);

    const accepted = await deliver(secret);
    if (accepted.status !== 202 || accepted.body.duplicate)
      throw new LocalError(`the signed delivery was answered ${accepted.status} ${JSON.stringify(accepted.body)}`);
    say(`Right signature: 202, delivery ${accepted.body.delivery_id} is accepted`);

    const repeated = await deliver(secret);
    if (!repeated.body.duplicate)
      throw new LocalError(`the repeated delivery was answered ${repeated.status} ${JSON.stringify(repeated.body)}`);
    say('The same delivery again: 202, "duplicate": true, nothing is triggered');

    const order = parseJson(body) as unknown as ShopifyOrder;
    const amount = `${order.total_price} ${order.currency}`;
    notes.write('orders', [...notes.read('orders'), { orderId: order.id, from: 'the webhook', amount, outcome: 'thanked' }]);
  },
};
