import type { Context } from '../../../context.ts';
import { mappedContactQuery, resolveMappedContact } from '../../../contacts/upsert/resolve-mapped-contact.ts';
import { contactIdQuery } from '../../../contacts/upsert/unchanged-contact.ts';
import { retryOnConflict } from '../../../database/compare-and-set.ts';
import { isFilePayload, storePayload } from '../../../database/payload.ts';
import { newRequestKey } from '../../../database/request-key.ts';
import { systemClock } from '../../../library/time/clock.ts';
import { conflict, forbidden, isServiceError, unauthorized } from '../../../library/errors.ts';
import { enqueueEvents } from '../../../outbox/enqueue.ts';
import { readWebhook, recallWebhook, type Webhook } from './known-webhooks.ts';
import { decodeContent } from './decode-content.ts';
import { insertDelivery, findDelivery, type AcceptedRow } from './store.ts';
import { readDeliveries, type ReadDelivery, type SentWebhook } from './read-delivery.ts';
import { storeElements } from './store-elements.ts';
import { isEqualConstantTime, verifySignature } from './signatures.ts';
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

interface AcceptedDelivery {
  deliveryId: string;
  isDuplicate: boolean;
}

/** `isSplit`: each delivery is an element of the request. */
export interface AcceptedWebhook {
  deliveries: [AcceptedDelivery, ...AcceptedDelivery[]];
  isSplit: boolean;
}

/**
 * Stores a delivery, and sends the message that starts its runs. Throws, in this order: 404 for an unknown or archived address, 401 for the
 * signature, 409 for an inactive trigger or workflow; 429 for too many unsigned or refused deliveries; what `readDeliveries` throws. A delivery with
 * a known id is a duplicate and starts nothing. One call to the database for a known trigger and contact.
 */
export async function receiveWebhook(
  bindings: Env,
  incoming: IncomingWebhook,
  { log, defer }: Pick<Context, 'log' | 'defer'>,
): Promise<AcceptedWebhook> {
  rejectBlockedSender(bindings, incoming.uuid, incoming.address, systemClock());
  const known = await recallWebhook(bindings, incoming.uuid, defer);
  if (known && (await verify(known, incoming)).ok) {
    const accepted = await acceptDelivery(known, incoming);
    if (accepted) return accepted;
  }
  const accepted = await retryOnConflict(async () => {
    const webhook = await readWebhook(bindings, incoming.uuid, defer).catch(async (error: unknown) => {
      if (isServiceError(error)) await countUnknownTrigger(bindings, incoming.address, systemClock(), log);
      throw error;
    });
    const verified = await verify(webhook, incoming);
    if (!verified.ok) {
      await countInvalidSignature(webhook.context, webhook.trigger.id, incoming.address);
      throw unauthorized(verified.reason);
    }
    return acceptDelivery(webhook, incoming);
  });
  if (!accepted) throw conflict('The trigger is being changed again and again; send the delivery again');
  return accepted;
}

/** Checks the signature over the bytes as they came; some senders sign before they compress. */
async function verify({ context, config }: Webhook, { headers, body }: IncomingWebhook): ReturnType<typeof verifySignature> {
  const verified = await verifySignature(config.auth, headers, body, context.clock());
  if (verified.ok || !headers.has('content-encoding')) return verified;
  const decoded = await decodeContent(headers, body).catch(() => body);
  return decoded === body ? verified : verifySignature(config.auth, headers, decoded, context.clock());
}

/** Stores the deliveries of a request whose signature holds. Null: the trigger is no longer as it was read, and nothing was stored. */
async function acceptDelivery(webhook: Webhook, incoming: IncomingWebhook): Promise<AcceptedWebhook | null> {
  const { context, trigger, config } = webhook;
  recordTrustedSender(incoming.uuid, incoming.address);
  if (config.auth.type === 'none') await countUnsigned(context, trigger.id, incoming.address);
  if (trigger.state !== 'active') throw conflict(`The trigger is ${trigger.state}; it must be active to receive webhooks`);
  if (trigger.workflow_status !== 'active')
    throw conflict(`The workflow is ${trigger.workflow_status}; it must be active to receive webhooks`);

  const read = await readDeliveries(config, incoming, context.organization.defaultCountry);
  const stored = read.length === 1 ? await storeDelivery(webhook, read[0]) : await storeElements(webhook, read);
  if (stored === null) return null;
  const deliveries = read.map(({ deliveryId }, index): AcceptedDelivery => {
    const row = stored[index]!;
    return row === 'duplicate'
      ? { deliveryId: deliveryId!, isDuplicate: true }
      : { deliveryId: deliveryId ?? String(row.id), isDuplicate: false };
  });
  enqueueEvents(
    context,
    'delivery',
    stored.flatMap((row) => (typeof row === 'object' ? row.id : [])),
  );
  return { deliveries: deliveries as AcceptedWebhook['deliveries'], isSplit: config.split !== undefined };
}

/** As `storeElements`, of a request with one delivery: in one call when the contact is as the delivery says, else after the contact is written. */
async function storeDelivery(
  { context, trigger, config }: Webhook,
  { payload, contact, deliveryId }: ReadDelivery,
): Promise<[AcceptedRow] | null> {
  const { database, organization, bindings } = context;
  const listName = config.list_name ?? null;
  const json = JSON.stringify(payload);
  // A repeat writes no file.
  if (deliveryId !== null && isFilePayload(json) && (await findDelivery(database, trigger.id, deliveryId)) !== null) return ['duplicate'];
  const key = () => `${organization.id}/deliveries/${crypto.randomUUID()}`;
  const delivery = {
    organizationId: organization.id,
    triggerId: trigger.id,
    triggerConfig: trigger.config,
    deliveryId: deliveryId ?? newRequestKey(),
    payload: await storePayload(bindings.FILES, key, json),
    createdAt: context.clock(),
  };
  const first = await insertDelivery(database, { ...delivery, contact: mappedContactQuery(context, contact, listName) });
  if (first !== 'no contact') return first === 'changed' ? null : [first];
  const contactId = await resolveMappedContact(context, contact, listName);
  const second = await insertDelivery(database, { ...delivery, contact: contactIdQuery(contactId) });
  if (second === 'no contact') throw new Error('a delivery was refused for its contact, whose id is known');
  return second === 'changed' ? null : [second];
}

/** Answers the challenge of a sender that checks the address before it sends. Throws 403 unless the trigger's `verify_token` matches, and 404. */
export async function answerChallenge(
  bindings: Env,
  uuid: string,
  query: Record<string, string>,
  defer: Context['defer'],
): Promise<string> {
  const { config } = await readWebhook(bindings, uuid, defer);
  const challenge = query['hub.challenge'] ?? query['challenge'];
  const token = query['hub.verify_token'] ?? query['verify_token'];
  const { verify_token } = config.auth;
  if (!challenge || !verify_token || !(await isEqualConstantTime(token ?? '', verify_token)))
    throw forbidden('This address answers a GET only with a challenge and the verify_token of its trigger');
  return challenge;
}
