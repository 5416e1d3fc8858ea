import type { Context } from '../../accounts/context.ts';
import { backgroundContext } from '../../accounts/organizations.ts';
import { resolveMappedContact } from '../../contacts/resolve-mapped-contact.ts';
import { storePayload } from '../../database/payload.ts';
import { systemClock } from '../../library/clock.ts';
import { conflict, forbidden, isServiceError, notFound, unauthorized } from '../../library/errors.ts';
import { announceEvent } from '../../queues/announce.ts';
import { openSecrets } from '../secrets.ts';
import { insertDelivery, findDelivery } from './delivery-store.ts';
import { readDelivery, type SentWebhook } from './read-delivery.ts';
import { isSame, verify } from './signatures.ts';
import { armedByUuid, type ArmedTrigger } from './store.ts';
import { organizationOfUuid } from './trigger-uuid.ts';
import type { WebhookConfig } from './webhook-config.ts';
import { countForged, countUnknown, countUnsigned, noteGoodSender, refuseKnownForger, type Address } from './webhook-rates.ts';

export interface IncomingWebhook extends SentWebhook {
  uuid: string;
  /** Network address of the sender. */
  address: Address;
}

export interface Accepted {
  deliveryId: string;
  isDuplicate: boolean;
}

/**
 * Accepts a delivery once it is stored. Checked in this order: unknown or archived address 404, signature 401, inactive 409.
 * A delivery that repeats an id is answered as a duplicate and fires nothing. Throws 429 for too many that are unsigned or refused.
 */
export async function receiveWebhook(
  bindings: Env,
  incoming: IncomingWebhook,
  { log, defer }: Pick<Context, 'log' | 'defer'>,
): Promise<Accepted> {
  refuseKnownForger(bindings, incoming.uuid, incoming.address, systemClock());
  const { context, trigger, config } = await addressed(bindings, incoming.uuid, defer).catch(async (error: unknown) => {
    if (isServiceError(error)) await countUnknown(bindings, incoming.address, systemClock(), log);
    throw error;
  });
  const verified = await verify(config.auth, incoming.headers, incoming.body, context.clock());
  if (!verified.ok) {
    await countForged(context, trigger.id, incoming.address);
    throw unauthorized(verified.reason);
  }
  noteGoodSender(incoming.uuid, incoming.address);
  if (config.auth.type === 'none') await countUnsigned(context, trigger.id, incoming.address);
  if (trigger.state !== 'active') throw conflict(`The trigger is ${trigger.state}; it must be active to receive webhooks`);
  if (trigger.workflow_status !== 'active')
    throw conflict(`The workflow is ${trigger.workflow_status}; it must be active to receive webhooks`);

  const { payload, contact, deliveryId } = await readDelivery(config, incoming);
  const known = deliveryId === null ? null : await findDelivery(context.database, trigger.id, deliveryId);
  if (known !== null) return { deliveryId: deliveryId!, isDuplicate: true };

  const contactId = await resolveMappedContact(context, contact, config.list_name ?? null);
  const key = () => `${context.organization.id}/deliveries/${crypto.randomUUID()}`;
  const stored = await insertDelivery(context.database, {
    organizationId: context.organization.id,
    triggerId: trigger.id,
    deliveryId,
    contactId,
    payload: await storePayload(bindings.FILES, key, JSON.stringify(payload)),
    createdAt: context.clock(),
  });
  if (stored === 'inactive') throw conflict('The trigger or its workflow has just become inactive; it must be active to receive webhooks');
  if (stored === 'duplicate') return { deliveryId: deliveryId!, isDuplicate: true };
  announceEvent(context, 'delivery', stored.id);
  return { deliveryId: deliveryId ?? String(stored.id), isDuplicate: false };
}

/** Answers a sender that checks the address before it sends, when the trigger has a token for that. */
export async function answerChallenge(
  bindings: Env,
  uuid: string,
  query: Record<string, string>,
  defer: Context['defer'],
): Promise<string> {
  const { config } = await addressed(bindings, uuid, defer);
  const challenge = query['hub.challenge'] ?? query['challenge'];
  const token = query['hub.verify_token'] ?? query['verify_token'];
  const { verify_token } = config.auth;
  if (!challenge || !verify_token || !(await isSame(token ?? '', verify_token)))
    throw forbidden('This address answers a GET only with a challenge and the verify_token of its trigger');
  return challenge;
}

async function addressed(bindings: Env, uuid: string, defer: Context['defer']) {
  const organizationId = organizationOfUuid(uuid);
  const context = organizationId === null ? null : await backgroundContext(bindings, organizationId, defer);
  const trigger =
    context && (await context.database.first<ArmedTrigger>(armedByUuid(context.database, context.organization.id, uuid.toLowerCase())));
  if (!context || !trigger || trigger.state === 'archived' || trigger.workflow_status === 'archived' || trigger.type !== 'webhook')
    throw notFound('Webhook address');
  const config = await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, JSON.parse(trigger.config) as WebhookConfig);
  return { context, trigger, config };
}
