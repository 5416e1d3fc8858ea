import type { Bench } from '../../bench.ts';
import { postUpsert, rowsPerRequest } from '../../cases/exchanges.ts';
import { createPerson } from '../../cases/people.ts';
import type { Unit } from '../account.ts';

const bulkRows = 1000;
/** Above the numbers of the people that the other units are about. */
const firstNewPerson = 100_000;

/** Contacts by the API, one and many. The people that events and webhooks are about come in first. */
export async function contactUnits(bench: Bench): Promise<Unit[]> {
  const { clients, headers } = bench;
  const post = (path: string, body: object) =>
    clients.recording.call({ method: 'POST', path: `/api/v1/contacts/${path}`, headers, body: JSON.stringify(body) });
  await clients.recording.call(postUpsert(bench, 0));
  let next = firstNewPerson;
  let changes = 0;
  const upsert = (person: object) => post('upsert', { list_name: 'Customers', ...person });
  const bulk = (from: number, change: object = {}) =>
    post('bulk-upsert', {
      list_name: 'Customers',
      contacts: Array.from({ length: bulkRows }, (_, index) => ({ ...createPerson(from + index), ...change })),
    });
  const known = rowsPerRequest - bulkRows;
  return [
    { name: 'A contact is created', work: () => upsert(createPerson(next++)) },
    { name: 'A contact is changed', work: () => upsert({ ...createPerson(1), company: `Company ${changes++}` }) },
    { name: 'A contact is sent again as it is', work: () => upsert(createPerson(2)) },
    {
      name: 'A contact of 1,000 new ones in a bulk upsert',
      count: bulkRows,
      work: () => bulk((next += bulkRows) - bulkRows),
    },
    {
      name: 'A contact of 1,000 changed ones in a bulk upsert',
      count: bulkRows,
      work: () => bulk(known, { company: `Company ${changes++}` }),
    },
    { name: 'A contact of 1,000 in a bulk upsert, all as they are', count: bulkRows, work: () => bulk(0) },
    {
      name: 'A page of 50 contacts is read',
      work: () => clients.recording.call({ method: 'GET', path: '/api/v1/contacts?limit=50', headers }),
    },
  ];
}
