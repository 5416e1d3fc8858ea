import { createClient } from './generated/hey-api/client/index.ts';
import { Api } from './generated/hey-api/sdk.gen.ts';

/** Ten calls through the client of @hey-api/openapi-ts, each by what the one before answered. Answers what came of them. */
export async function story(origin: string, key: string) {
  const api = new Api({ client: createClient({ baseUrl: origin, headers: { 'X-API-Key': key }, throwOnError: true }) });
  const wanted = { throwOnError: true } as const;

  const { data: health } = await api.health.get(wanted);
  const { data: created } = await api.contacts.create({ ...wanted, body: { phone: '+14155550142', first_name: 'Ada', tags: ['client'] } });
  const { data: upserted } = await api.contacts.upsert({
    ...wanted,
    body: { list_name: 'hey-api', phone: '(415) 555-0142', last_name: 'Lovelace' },
  });
  const path = { contact_id: created.id };
  const { data: read } = await api.contacts.get({ ...wanted, path });
  const { data: page } = await api.contacts.list({ ...wanted, query: { search: 'Lovelace', limit: 10 } });
  const { data: lists } = await api.contacts.listLists({ ...wanted, path });
  const { data: event } = await api.events.create({
    ...wanted,
    headers: { 'Idempotency-Key': 'hey-api-story' },
    body: { event_type: 'order_placed', event_id: 'hey-api-1', phone: '+14155550142', data: { total: 12 } },
  });
  const { data: events } = await api.contacts.listEvents({ ...wanted, path });
  const refused = await api.contacts.get({ throwOnError: false, path: { contact_id: 999_999_999 } });
  const { data: removed } = await api.contacts.delete({ ...wanted, path });

  return {
    health: health.status,
    isSamePerson: upserted.contact.id === created.id && !upserted.contact_created,
    name: `${read.first_name} ${read.last_name}`,
    found: page.contacts.map(({ id }) => id === created.id),
    lists: lists.lists.map(({ name }) => name),
    isEventOfContact: event.contact_id === created.id,
    events: events.events.map(({ event_type }) => event_type),
    refused: [refused.response?.status, typeof refused.error?.detail],
    removed: removed.status,
  };
}
