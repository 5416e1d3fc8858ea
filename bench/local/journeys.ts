import type { Client } from '../load.ts';
import { shortJourney, sleepingJourney, typicalJourney, waitingJourney } from './definitions.ts';

export const matchedType = 'order_paid';
export const unmatchedType = 'page_viewed';
export const wakingType = 'parcel_delivered';
export const webhookSecret = 'a secret shared with the sender of the webhooks';

export interface Journeys {
  /** Where signed webhooks go that start the journey of four nodes, and the typical one of six. */
  webhookPath: string;
  typicalWebhookPath: string;
  /** Where to fire the journey that waits for an event, and the one that sleeps, for contacts. */
  waitingPath: string;
  sleepingPath: string;
}

const workflows = '/api/v1/automation-workflows';

/** Creates the active journeys of all cases. `receiver` is the address that their requests go to. */
export async function createJourneys(service: Client, headers: Record<string, string>, receiver: string): Promise<Journeys> {
  const byHand = async (name: string, definition: object) =>
    (await createJourney(service, headers, name, definition, { type: 'manual' })).firePath;
  await createJourney(service, headers, 'On event', shortJourney, { type: 'contact_event', config: { event_types: [matchedType] } });
  return {
    webhookPath: await createWebhookJourney(service, headers, 'On webhook', shortJourney),
    typicalWebhookPath: await createWebhookJourney(service, headers, 'Typical', typicalJourney(receiver)),
    waitingPath: await byHand('Waiting', waitingJourney(wakingType)),
    sleepingPath: await byHand('Sleeping', sleepingJourney),
  };
}

/** Creates an active journey; answers its trigger, and where to fire it. */
export async function createJourney(service: Client, headers: Record<string, string>, name: string, definition: object, trigger: object) {
  const body = JSON.stringify({ name, definition, trigger });
  const { id } = await service.json<{ id: number }>({ method: 'POST', path: workflows, headers, body });
  await service.call({ method: 'PATCH', path: `${workflows}/${id}`, headers, body: JSON.stringify({ status: 'active' }) });
  const path = `${workflows}/${id}/triggers`;
  const [created] = (await service.json<{ triggers: Trigger[] }>({ method: 'GET', path, headers })).triggers;
  return { id, trigger: created!, firePath: `${path}/${created!.id}/fire` };
}

/** Creates an active journey that signed webhooks start; answers their path. `more` is further config of the trigger. */
export async function createWebhookJourney(
  service: Client,
  headers: Record<string, string>,
  name: string,
  definition: object,
  more: object = {},
): Promise<string> {
  const auth = { type: 'hmac_sha256', header: 'X-Signature', secret: webhookSecret };
  const config = { auth, delivery_id: 'X-Delivery-Id', mapping: { phone: 'customer.phone' }, ...more };
  const { trigger } = await createJourney(service, headers, name, definition, { type: 'webhook', config });
  return new URL(trigger.webhook_url).pathname;
}

interface Trigger {
  id: number;
  webhook_url: string;
}
