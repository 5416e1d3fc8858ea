import type { Fault } from '../messaging/delivery-simulator.ts';
import type { DeliveryStatus, MessageRecord } from '../messaging/message-store.ts';

/** An event of version 2: `id` is Gupshup's until the message is sent, then the messaging app's; `gsId` stays Gupshup's. */
export function messageEvent(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): object {
  const isOurs = status === 'failed' || status === 'accepted';
  const whatsappId = `gBEG${Buffer.from(message.id).toString('base64url').slice(0, 24)}`;
  const payload = fault
    ? { code: Number(fault.code), reason: fault.words }
    : status === 'accepted'
      ? { whatsappMessageId: whatsappId, type: 'session' }
      : { ts: Math.floor(Date.now() / 1000) };
  return {
    app: message.account,
    timestamp: Date.now(),
    version: 2,
    type: 'message-event',
    payload: {
      id: isOurs ? message.id : whatsappId,
      ...(!isOurs && { gsId: message.id }),
      type: status === 'accepted' ? 'enqueued' : status,
      destination: message.to.replace('+', ''),
      payload,
    },
  };
}
