import { LRUCache } from 'lru-cache';
import { backgroundContext } from '../../../accounts/organizations/background-context.ts';
import type { Context } from '../../../context.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import { notFound } from '../../../library/errors.ts';
import { triggerByUuidStatement, type TriggerWithWorkflow } from '../store.ts';
import { organizationIdFromUuid } from '../trigger-uuid.ts';
import type { WebhookConfig } from './config.ts';

/** A webhook's trigger, and its config with open secrets. */
export interface Webhook {
  context: Context;
  trigger: TriggerWithWorkflow;
  config: WebhookConfig;
}

const cacheTtlMs = 60_000;
/** By address. What follows from a trigger that was read earlier is only stored if the row is still the same (`insertDelivery`). */
const knownWebhooks = new LRUCache<string, Omit<Webhook, 'context'>>({
  ttl: cacheTtlMs,
  // In characters: a config or a context_schema may be long.
  maxSize: 4_000_000,
  sizeCalculation: ({ trigger }) =>
    500 + 2 * trigger.config.length + trigger.workflow_settings.length + trigger.workflow_context_schema.length,
});

/** The webhook of an address as it was read in the last minute, if it was active then; else null. */
export async function recallWebhook(bindings: Env, uuid: string, defer: Context['defer']): Promise<Webhook | null> {
  const known = knownWebhooks.get(uuid.toLowerCase());
  const context = known ? await backgroundContext(bindings, known.trigger.organization_id, defer) : null;
  return context && { context, ...known! };
}

/** Reads the webhook of an address. Throws 404 for an unknown or archived one. */
export async function readWebhook(bindings: Env, uuid: string, defer: Context['defer']): Promise<Webhook> {
  const address = uuid.toLowerCase();
  knownWebhooks.delete(address);
  const organizationId = organizationIdFromUuid(uuid);
  const context = organizationId === null ? null : await backgroundContext(bindings, organizationId, defer);
  const trigger = context && (await context.database.first(triggerByUuidStatement(context.database, context.organization.id, address)));
  if (!context || !trigger || trigger.state === 'archived' || trigger.workflow_status === 'archived' || trigger.type !== 'webhook')
    throw notFound('Webhook address');
  const config = await openSecrets(context.settings.ENCRYPTION_KEY, context.organization.id, JSON.parse(trigger.config) as WebhookConfig);
  if (trigger.state === 'active' && trigger.workflow_status === 'active') knownWebhooks.set(address, { trigger, config });
  return { context, trigger, config };
}
