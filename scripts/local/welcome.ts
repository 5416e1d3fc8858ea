import type { Credentials } from './credentials.ts';

/** What a user reads when the service is up: addresses, the key, and three calls to paste. */
export function welcome(
  { base_url: baseUrl, api_key: apiKey, simulators_url: simulatorsUrl }: Credentials,
  signInLink: string | undefined,
): string {
  const key = `-H 'X-API-Key: ${apiKey}'`;
  const json = `-H 'Content-Type: application/json'`;
  const contact = JSON.stringify({ list_name: 'Customers', phone: '+14155550123', first_name: 'Ada', email: 'ada@example.com' });
  const event = JSON.stringify({ event_type: 'order_placed', phone: '+14155550123', data: { order_id: 'A-1001', total: 129.5 } });
  return `
The service is running. Ctrl-C ends it.

  Console     ${signInLink ?? new URL('/', baseUrl)}
  API         ${baseUrl}
  API key     ${apiKey}
  Docs        ${new URL('/docs', baseUrl)}
  Simulators  ${simulatorsUrl}

Create a contact, post an event, list the events:

  curl -s -X POST '${baseUrl}/contacts/upsert' ${key} ${json} -d '${contact}'
  curl -s -X POST '${baseUrl}/events' ${key} ${json} -d '${event}'
  curl -s '${baseUrl}/events' ${key}
`;
}
