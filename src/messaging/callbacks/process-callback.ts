import type { Context } from '../../context.ts';
import { publish } from '../../outbox/published-events.ts';
import type { MessageEvent, ProviderKey } from '../../providers/messaging/messaging.ts';
import { resolveCallbackOrigin } from './callback-url.ts';
import { findConfig } from '../config/store.ts';
import { advanceAllStatements, findByMessageIds, isSending } from '../messages/store.ts';
import { resolveSender } from '../messages/sender.ts';
import { rankOf, sendingExpiredBefore } from '../messages/status.ts';

/** A callback request as received. */
export interface IncomingCallback {
  /** Path and query, unchanged, because signatures cover them. */
  path: string;
  headers: Headers;
  body: string;
}

/** The delays before the next look for a message: a provider may report it before its answer to the sending is stored. */
const retryDelaysMs = [200, 800, 2000];

/**
 * Records what a provider reports of messages. `unsigned`: the callback has no valid signature. `ignored`: it is about no stored message.
 */
export async function processCallback(
  context: Context,
  provider: ProviderKey,
  callback: IncomingCallback,
): Promise<'unsigned' | 'ignored' | 'ok'> {
  const config = await findConfig(context.database, context.organization.id);
  const sender = await resolveSender(context, config, provider);
  // Without the provider's credentials no signature can be checked.
  if ('failure' in sender) return 'ignored';
  const url = resolveCallbackOrigin(context.settings, config!.callbackOrigin) + callback.path;
  const received = sender.provider.readCallback({ ...callback, url });
  if ('isUnsigned' in received) return 'unsigned';
  let left = await applyEvents(context, provider, received.events);
  for (const pauseMs of retryDelaysMs) {
    const { database, organization, clock } = context;
    if (left.length === 0 || !(await isSending(database, organization.id, provider, sendingExpiredBefore(clock())))) break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    left = await applyEvents(context, provider, left);
  }
  return left.length < received.events.length ? 'ok' : 'ignored';
}

/** Moves messages to later statuses, never back. Returns the events of unknown messages. */
async function applyEvents(context: Context, provider: ProviderKey, events: MessageEvent[]): Promise<MessageEvent[]> {
  const { database, organization, clock } = context;
  if (events.length === 0) return [];
  const ids = [...new Set(events.map(({ messageId }) => messageId))];
  const known = Map.groupBy(await findByMessageIds(database, organization.id, provider, ids), ({ messageId }) => messageId);
  const now = clock();
  const steps = events
    .toSorted((one, other) => rankOf(one.status) - rankOf(other.status))
    .flatMap(({ messageId, status, at, failure }) =>
      (known.get(messageId) ?? [])
        .filter(({ rank }) => rank < rankOf(status))
        .map(({ id }) => ({ id, outcome: { status, at: Math.min(at, now), ...(failure && { failure }) } })),
    );
  if (steps.length > 0) await database.batch(advanceAllStatements(database, organization.id, steps, now), 'idempotent');
  if (steps.some(({ outcome }) => outcome.status === 'failed'))
    await publish(context, 'webhook_event.recorded', { type: 'message.failed' });
  return events.filter(({ messageId }) => !known.has(messageId));
}
