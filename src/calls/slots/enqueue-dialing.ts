import type { CallsMessage } from '../../outbox/messages.ts';

const keysPerMessage = 10;
const messagesPerBatch = 100;

/** Has granted attempts dialled. A message that is lost is sent again by the call slots. */
export async function enqueueDialing(bindings: Env, organizationId: number, keys: string[]): Promise<void> {
  const messages: { body: CallsMessage }[] = [];
  for (let start = 0; start < keys.length; start += keysPerMessage)
    messages.push({ body: { v: 1, kind: 'dial', organization_id: organizationId, keys: keys.slice(start, start + keysPerMessage) } });
  for (let start = 0; start < messages.length; start += messagesPerBatch)
    await bindings.CALLS_QUEUE.sendBatch(messages.slice(start, start + messagesPerBatch));
}
