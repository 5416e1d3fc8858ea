import type { Client } from '../load.ts';
import { ownNumber, type CarrierAccount } from './carrier.ts';

/** Asks when it may deliver, and ends the call when that is agreed. */
const delivery = {
  name: 'Delivery',
  workflow_definition: {
    nodes: [
      {
        id: 'everywhere',
        type: 'globalNode',
        data: {
          prompt:
            'You call for a furniture shop. You are friendly and brief: one or two sentences at a time, no lists, no abbreviations, numbers in words. Never promise anything that is not written here. If somebody asks whether you are a machine, say so.',
        },
      },
      {
        id: 'start',
        type: 'startCall',
        data: {
          greeting: 'Hello {{first_name}}, this is the furniture shop. When may we deliver?',
          prompt:
            'Find a day for the delivery to {{first_name}} {{last_name}} of {{company}}. Deliveries come on Tuesday, Thursday and Friday, between nine and noon or between two and five. Somebody must be at home. The order is {{order_id}}. Answer questions about it as well as you can, and come back to the day.',
        },
      },
      { id: 'bye', type: 'endCall', data: { prompt: 'Thank them, repeat the day, and say goodbye.' } },
    ],
    edges: [
      { id: 'agreed', source: 'start', target: 'bye', data: { label: 'agreed', condition: 'the person has named a day or is interested' } },
      { id: 'declined', source: 'start', target: 'bye', data: { label: 'declined', condition: 'the person wants no delivery' } },
    ],
  },
};

/** Creates a telephony config with this account, and a voice agent; returns the agent's id. */
export async function prepareCalling(client: Client, headers: Record<string, string>, account: CarrierAccount): Promise<number> {
  const post = (path: string, body: object) =>
    client.json<{ id: number }>({ method: 'POST', path: `/api/v1${path}`, headers, body: JSON.stringify(body) });
  await post('/organizations/telephony-configs', {
    name: 'Simulated carrier',
    provider: 'twilio',
    twilio: { account_sid: account.accountSid, auth_token: account.authToken },
    from_numbers: [ownNumber],
    calls_per_second: 1000,
  });
  const { id } = await post('/workflow/create/definition', delivery);
  return id;
}
