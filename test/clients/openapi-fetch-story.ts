import createClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript.ts';

/** Ten calls through the client of openapi-typescript, each by what the one before answered. Answers what came of them. */
export async function story(origin: string, key: string) {
  const api = createClient<paths>({ baseUrl: origin, headers: { 'X-API-Key': key } });
  const need = <T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T => {
    if (data === undefined) throw new Error(`${response.url} answered ${response.status} ${JSON.stringify(error)}`);
    return data;
  };

  const health = need(await api.GET('/api/v1/health'));
  const created = need(await api.POST('/api/v1/contacts', { body: { phone: '+14155550141', first_name: 'Ada', tags: ['client'] } }));
  const upserted = need(
    await api.POST('/api/v1/contacts/upsert', { body: { list_name: 'openapi-fetch', phone: '(415) 555-0141', last_name: 'Byron' } }),
  );
  const read = need(await api.GET('/api/v1/contacts/{contact_id}', { params: { path: { contact_id: created.id } } }));
  const page = need(await api.GET('/api/v1/contacts', { params: { query: { search: 'Byron', limit: 10 } } }));
  const lists = need(await api.GET('/api/v1/contacts/{contact_id}/lists', { params: { path: { contact_id: created.id } } }));
  const event = need(
    await api.POST('/api/v1/events', {
      params: { header: { 'Idempotency-Key': 'openapi-fetch-story' } },
      body: { event_type: 'order_placed', event_id: 'openapi-fetch-1', phone: '+14155550141', data: { total: 12 } },
    }),
  );
  const events = need(await api.GET('/api/v1/contacts/{contact_id}/events', { params: { path: { contact_id: created.id } } }));
  const refused = await api.GET('/api/v1/contacts/{contact_id}', { params: { path: { contact_id: 999_999_999 } } });
  const removed = need(await api.DELETE('/api/v1/contacts/{contact_id}', { params: { path: { contact_id: created.id } } }));

  return {
    health: health.status,
    isSamePerson: upserted.contact.id === created.id && !upserted.contact_created,
    name: `${read.first_name} ${read.last_name}`,
    found: page.contacts.map(({ id }) => id === created.id),
    lists: lists.lists.map(({ name }) => name),
    isEventOfContact: event.contact_id === created.id,
    events: events.events.map(({ event_type }) => event_type),
    refused: [refused.response.status, typeof refused.error?.detail],
    removed: removed.status,
  };
}
