import type { Context } from '../../../context.ts';
import { backgroundContext } from '../../../accounts/organizations/background-context.ts';
import { resolveMappedContact } from '../../../contacts/upsert/resolve-mapped-contact.ts';
import { storePayload } from '../../../database/payload.ts';
import { systemClock } from '../../../library/time/clock.ts';
import { conflict, forbidden, isServiceError, notFound, unauthorized } from '../../../library/errors.ts';
import { enqueueEvent } from '../../../outbox/enqueue.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import { insertDelivery, findDelivery } from './store.ts';
import { readDelivery, type SentWebhook } from './read-delivery.ts';
import { isEqualConstantTime, verifySignature } from './signatures.ts';
import { triggerByUuidStatement } from '../store.ts';
import { organizationIdFromUuid } from '../trigger-uuid.ts';
import type { WebhookConfig } from './config.ts';
import {
  countInvalidSignature,
  countUnknownTrigger,
  countUnsigned,
  recordTrustedSender,
  rejectBlockedSender,
  type Address,
} from './rates.ts';

export interface IncomingWebhook extends SentWebhook {
  uuid: string;
  /** Network address of the sender. */
  address: Address;
}

export interface AcceptedDelivery {
  deliveryId: string;
  isDuplicate: boolean;
}

/**
 * Stores a delivery, and sends the message that starts its runs. Throws, in this order: 404 for an unknown or archived address, 401 for the
 * signature, 409 for an inactive trigger or workflow; 429 for too many unsigned or refused deliveries. A delivery with a known id is a
 * duplicate and starts nothing.
 */
export async function receiveWebhook(
  bindings: Env,
  incoming: IncomingWebhook,
  { log, defer }: Pick<Context, 'log' | 'defer'>,
): Promise<AcceptedDelivery> {
  rejectBlockedSender(bindings, incoming.uuid, incoming.address, systemClock());
  const { context, trigger, config } = await requireWebhook(bindings, incoming.uuid, defer).catch(async (error: unknown) => {
    if (isServiceError(error)) await countUnknownTrigger(bindings, incoming.address, systemClock(), log);
    throw error;
  });
  const verified = await verifySignature(config.auth, incoming.headers, incoming.body, context.clock());
  if (!verified.ok) {
    await countInvalidSignature(context, trigger.id, incoming.address);
    throw unauthorized(verified.reason);
  }
  recordTrustedSender(incoming.uuid, incoming.address);
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
  enqueueEvent(context, 'delivery', stored.id);
  return { deliveryId: deliveryId ?? String(stored.id), isDuplicate: false };
}

/** Answers the challenge of a sender that checks the address before it sends. Throws 403 unless the trigger's `verify_token` matches, and 404. */
export async function answerChallenge(
  bindings: Env,
  uuid: string,
  query: Record<string, string>,
  defer: Context['defer'],
): Promise<string> {
  const { config } = await requireWebhook(bindings, uuid, defer);
  const challenge = query['hub.challenge'] ?? query['challenge'];
  const token = query['hub.verify_token'] ?? query['verify_token'];
  const { verify_token } = config.auth;
  if (!challenge || !verify_token || !(await isEqualConstantTime(token ?? '', verify_token)))
    throw forbidden('This address answers a GET only with a challenge and the verify_token of its trigger');
  return challenge;
}

async function requireWebhook(bindings: Env, uuid: string, defer: Context['defer']) {
  const organizationId = organizationIdFromUuid(uuid);
  const context = organizationId === null ? null : await backgroundContext(bindings, organizationId, defer);
  const trigger =
    context && (await context.database.first(triggerByUuidStatement(context.database, context.organization.id, uuid.toLowerCase())));
  if (!context || !trigger || trigger.state === 'archived' || trigger.workflow_status === 'archived' || trigger.type !== 'webhook')
    throw notFound('Webhook address');
  const config = await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, JSON.parse(trigger.config) as WebhookConfig);
  return { context, trigger, config };
}
