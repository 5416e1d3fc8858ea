import type { CallsMessage } from '../../queues/messages.ts';

const keysAMessage = 10;
const messagesABatch = 100;

/** Has granted attempts dialled. A message that is lost is sent again by the call slots. */
export async function announceCalls(bindings: Env, organizationId: number, keys: string[]): Promise<void> {
  const messages: { body: CallsMessage }[] = [];
  for (let start = 0; start < keys.length; start += keysAMessage)
    messages.push({ body: { v: 1, kind: 'dial', organization_id: organizationId, keys: keys.slice(start, start + keysAMessage) } });
  for (let start = 0; start < messages.length; start += messagesABatch)
    await bindings.CALLS_QUEUE.sendBatch(messages.slice(start, start + messagesABatch));
}
