import { randomBytes } from 'node:crypto';
import type { Fault } from '../messaging/delivery-simulator.ts';
import type { DeliveryStatus, MessageRecord } from '../messaging/message-store.ts';

const seconds = () => String(Math.floor(Date.now() / 1000));

/** The webhooks about a change. WATI reports a sent message under the names of both versions. */
export function statusWebhooks(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): { eventType: string }[] {
  const kind = message.kind === 'template' ? 'template' : 'session';
  const common = {
    localMessageId: message.id,
    id: randomBytes(12).toString('hex'),
    whatsappMessageId: `wamid.${Buffer.from(message.id).toString('base64')}`,
    sourceType: 'API',
    timestamp: seconds(),
    ...(kind === 'template' && { templateId: randomBytes(12).toString('hex'), templateName: message.template }),
  };
  const webhook = (eventType: string, more: object) => ({ eventType, ...more, ...common });
  if (status === 'sent') {
    const fields = { statusString: 'SENT', created: new Date().toISOString() };
    return [webhook(`${kind}MessageSent`, fields), webhook(`${kind}MessageSent_v2`, fields)];
  }
  if (status === 'delivered') return [webhook('sentMessageDELIVERED_v2', { statusString: 'Delivered' })];
  if (status === 'read') return [webhook('sentMessageREAD_v2', { statusString: 'Read' })];
  if (status === 'accepted') return [];
  return [webhook(`${kind}MessageFailed`, { statusString: 'Failed', failedCode: fault?.code, failedDetail: fault?.words })];
}
