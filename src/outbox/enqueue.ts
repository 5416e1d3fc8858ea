import type { Context } from '../context.ts';
import type { CallsMessage, EventsMessage, FanoutMessage } from './messages.ts';

// A message only makes recorded work start sooner. The minute tick makes up for a send that fails.

export function enqueueEvent(context: Context, kind: EventsMessage['kind'], id: number): void {
  const message: EventsMessage = { v: 1, kind, organization_id: context.organization.id, id };
  context.defer(context.bindings.EVENTS_QUEUE.send(message));
}

export function enqueueEvents(context: Context, kind: EventsMessage['kind'], ids: number[]): void {
  if (ids.length === 1) return enqueueEvent(context, kind, ids[0]!);
  const messages = ids.map((id): EventsMessage => ({ v: 1, kind, organization_id: context.organization.id, id }));
  if (messages.length > 0) context.defer(sendAll(context.bindings.EVENTS_QUEUE, messages));
}

export function enqueueContactChanges(context: Context): void {
  enqueueFanout(context, { v: 1, kind: 'contact_changes', organization_id: context.organization.id });
}

export function enqueueCleanup(context: Context, id: number): void {
  enqueueFanout(context, { v: 1, kind: 'cleanup', organization_id: context.organization.id, id });
}

export function enqueueAdmission(context: Context, workflowId: number): void {
  enqueueFanout(context, { v: 1, kind: 'admission', organization_id: context.organization.id, workflow_id: workflowId });
}

export function enqueueDeletion(context: Context): void {
  enqueueFanout(context, { v: 1, kind: 'deletion', organization_id: context.organization.id });
}

export function enqueueFanout(context: Context, message: FanoutMessage): void {
  context.defer(context.bindings.FANOUT_QUEUE.send(message));
}

const keysPerMessage = 10;

/** Sends messages that dial granted attempts, 10 a message. The call slots send a lost message again. */
export async function enqueueDialing(bindings: Env, organizationId: number, keys: string[]): Promise<void> {
  const messages: CallsMessage[] = [];
  for (let start = 0; start < keys.length; start += keysPerMessage)
    messages.push({ v: 1, kind: 'dial', organization_id: organizationId, keys: keys.slice(start, start + keysPerMessage) });
  await sendAll(bindings.CALLS_QUEUE, messages);
}

/** A queue takes this many messages in one call. */
const messagesPerCall = 100;

/** Sends any number of messages to a queue, in as few calls as possible. */
export async function sendAll<Message>(queue: Queue<Message>, messages: Message[]): Promise<void> {
  for (let start = 0; start < messages.length; start += messagesPerCall)
    await queue.sendBatch(messages.slice(start, start + messagesPerCall).map((body) => ({ body })));
}
