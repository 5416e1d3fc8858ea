import { createHmac } from 'node:crypto';
import type { Fault } from '../messaging/delivery-simulator.ts';
import type { DeliveryStatus, MessageRecord } from '../messaging/message-store.ts';
import type { Registration } from '../messaging/webhooks.ts';

/** X-Hub-Signature-256 of a webhook, where an app secret is known. */
export const signatureHeaders = (text: string, { app_secret: secret }: Registration): Record<string, string> =>
  secret === undefined ? {} : { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}` };

export function statusWebhook(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): object {
  const recipient = message.to.replace('+', '');
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '0',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550000000', phone_number_id: message.account },
              statuses: [
                {
                  id: message.id,
                  status,
                  timestamp: String(Math.floor(Date.now() / 1000)),
                  recipient_id: recipient,
                  ...(message.reference !== null && { biz_opaque_callback_data: message.reference }),
                  ...(fault && {
                    errors: [{ code: Number(fault.code), title: fault.words, message: fault.words, error_data: { details: fault.words } }],
                  }),
                },
              ],
            },
          },
        ],
      },
    ],
  };
}

/** Why an address does not want webhooks, asked as the vendor does when it is set. */
export async function verify({ url, verify_token: token }: Registration): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const challenge = String(Math.floor(Math.random() * 1e9));
  const asked = new URL(url);
  for (const [name, value] of Object.entries({ mode: 'subscribe', verify_token: token, challenge }))
    asked.searchParams.set(`hub.${name}`, value);
  const answer = await fetch(asked);
  const isEchoed = answer.status === 200 && (await answer.text()) === challenge;
  return isEchoed ? undefined : 'The callback URL or verify token couldn’t be validated';
}
