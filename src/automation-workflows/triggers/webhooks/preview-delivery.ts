import type { Context } from '../../../context.ts';
import { previewMappedContact } from '../../../contacts/upsert/resolve-mapped-contact.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { conflict, invalidAt, notFound } from '../../../library/errors.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import type { TestBody, TestRunRecord } from '../../runs/schemas.ts';
import type { z } from '@hono/zod-openapi';
import { findDelivery } from './store.ts';
import { renderForCaller } from '../manual/fire-trigger.ts';
import { evaluateTrigger } from '../match-trigger.ts';
import { noElementNote } from './split.ts';
import { readDeliveries } from './read-delivery.ts';
import { verifySignature } from './signatures.ts';
import { triggersByIdStatement, findWorkflowTriggers, type TriggerWithWorkflow } from '../store.ts';
import type { WebhookConfig } from './config.ts';
import { toDeliveryVariables, type DeliveryPayload, type RunCause } from '../../runs/cause.ts';

type TestWebhook = NonNullable<z.infer<typeof TestBody>['webhook']>;

export interface DeliveryPreview {
  payload: DeliveryPayload;
  initialContext: Record<string, unknown>;
  /** The contact as the delivery would leave it; a new contact has the id 0. */
  contact: ContactRecord | null;
  report: NonNullable<z.infer<typeof TestRunRecord>['webhook']>;
}

/**
 * Reads a delivery as the receiver would, with the same checks in the same order, and stores nothing. Throws 404, 409, and 422 for a wrong
 * signature; the message names the missing header, or the bytes that are signed.
 */
export async function previewDelivery(context: Context, workflowId: number, given: TestWebhook): Promise<DeliveryPreview> {
  const trigger = await requireWebhookTrigger(context, workflowId, given.trigger_id);
  const config = await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, JSON.parse(trigger.config) as WebhookConfig);
  const sent = toSentWebhook(given);
  if (given.check_signature) {
    const verified = await verifySignature(config.auth, sent.headers, sent.body, context.clock());
    if (!verified.ok)
      throw invalidAt(
        ['body', 'webhook', 'headers'],
        `The receiver would answer 401: ${verified.reason}. Send webhook.check_signature false to test without it`,
        'signature',
      );
  }
  // Of a request that is split, the first element is tried.
  const [{ payload, contact: mapped, deliveryId }, ...others] = await readDeliveries(config, sent, context.organization.defaultCountry);
  const resolved = await previewMappedContact(context, mapped);
  const initialContext = toDeliveryVariables(payload);
  const contact = resolved?.contact ?? null;
  const cause: RunCause = {
    key: 'preview',
    contact,
    event: null,
    webhook: payload,
    source: 'delivery',
    sourceId: null,
    initialContext,
    depth: 0,
  };
  const candidate = renderForCaller(() => evaluateTrigger(context, trigger, cause));
  const isRepeat = deliveryId !== null && (await findDelivery(context.database, trigger.id, deliveryId)) !== null;
  const reasons = [
    ...(trigger.state === 'active' ? [] : [`The trigger is ${trigger.state}; it must be active to receive webhooks`]),
    ...(trigger.workflow_status === 'active' ? [] : [`The workflow is ${trigger.workflow_status}; it must be active to receive webhooks`]),
    ...(isRepeat ? [`Delivery ${deliveryId} has come already; the repeat is answered as a duplicate and starts nothing`] : []),
    ...(candidate ? [] : ["The trigger's filter does not match"]),
    ...(payload.element?.of === 0 ? [noElementNote(config)] : []),
  ];
  const wouldBe = resolved === null ? 'none' : resolved.isCreated ? 'created' : 'found';
  return {
    payload,
    initialContext,
    contact,
    report: {
      trigger_id: trigger.id,
      signature: given.check_signature ? 'ok' : 'not checked',
      delivery_id: deliveryId,
      ...(config.split === undefined ? {} : { elements: payload.element?.of === 0 ? 0 : others.length + 1 }),
      contact: { id: contact?.id || null, would_be: wouldBe, mapped },
      variables: payload.variables,
      would_start: reasons.length === 0,
      reasons,
    },
  };
}

async function requireWebhookTrigger(context: Context, workflowId: number, id: number | undefined): Promise<TriggerWithWorkflow> {
  const { database, organization } = context;
  const webhooks = (await findWorkflowTriggers(database, workflowId)).filter(({ type }) => type === 'webhook');
  if (id !== undefined && !webhooks.some((trigger) => trigger.id === id)) throw notFound('Webhook trigger');
  if (webhooks.length === 0) throw conflict('The workflow has no webhook trigger; create one to test a delivery');
  if (id === undefined && webhooks.length > 1) {
    const ids = webhooks.map((trigger) => trigger.id).join(', ');
    throw invalidAt(['body', 'webhook', 'trigger_id'], `The workflow has several webhook triggers; name one of ${ids}`, 'missing');
  }
  return (await database.first(triggersByIdStatement(database, organization.id, [id ?? webhooks[0]!.id])))!;
}

function toSentWebhook({ headers: given, body, query }: TestWebhook) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      throw invalidAt(
        ['body', 'webhook', 'headers', name],
        'Is no HTTP header; give a name of letters, digits and hyphens, and one line of text',
        'invalid',
      );
    }
  }
  const isText = typeof body === 'string';
  if (!isText && !headers.has('content-type')) headers.set('content-type', 'application/json');
  return { headers, query, body: new TextEncoder().encode(isText ? body : JSON.stringify(body)) };
}
