import { createDemoOrganization } from '../../scripts/local/demo-organization.ts';
import type { Bench } from '../bench.ts';
import { brokerKey } from '../local/broker.ts';
import { Client } from '../load.ts';
import type { RecordedCall } from '../recipe.ts';
import { recordedCalls } from '../record.ts';
import { median, percentile } from '../statistics.ts';
import type { TargetedFigure } from '../targets.ts';
import { waitUntil } from './campaigns.ts';

const booksOrganization = '10234695';
/** Contacts that the simulated books begin with, and how many a page has. */
const seeded = 450;
const pageSize = 200;
const mapping = {
  phone: { external_field: 'phone', direction: 'bidirectional' },
  first_name: { external_field: 'first_name', direction: 'inbound' },
  last_name: { external_field: 'last_name', direction: 'inbound' },
  email: { external_field: 'email', direction: 'inbound' },
  company: { external_field: 'company_name', direction: 'outbound' },
  'custom_fields.source': { external_field: 'cf_source', direction: 'inbound' },
};

type Caller = 'service' | 'recording';

/** Measures how fast contacts are read from the accounting tool, which D1 calls that takes, and how long a push takes beside its requests. */
export async function measureSync(bench: Bench): Promise<TargetedFigure[]> {
  const { syncedContacts: count, syncRounds } = bench.pace;
  bench.progress(`Syncs of ${count} contacts of books, ${syncRounds} rounds`);
  const rounds: Awaited<ReturnType<typeof measureRound>>[] = [];
  for (let round = 0; round < syncRounds; round++) rounds.push(await measureRound(bench, count));
  const floorDoes = 'asks the broker for the same pages, one after the other';
  const per = (seconds: number) => count / seconds;
  const floor = rounds.map(({ pagesSeconds }) => per(pagesSeconds));
  const name = `A sync of ${count} contacts of books`;
  return [
    { name: `${name}, all new: contacts a second`, unit: '', service: rounds.map((round) => per(round.newSeconds)), floor, floorDoes },
    {
      name: `${name}, all as they were: contacts a second`,
      unit: '',
      service: rounds.map((round) => per(round.sameSeconds)),
      floor,
      floorDoes,
    },
    ...(await measureCost(bench, count)),
    ...(await measurePushes(bench)),
  ];
}

async function measureRound(bench: Bench, count: number) {
  const books = await Books.connect(bench, 'service', count);
  const newSeconds = await books.sync({ created: count, unchanged: 0 });
  const sameSeconds = await books.sync({ created: 0, unchanged: count });
  const startedAt = performance.now();
  for (let page = 1; page <= Math.ceil(count / pageSize); page++) await books.ask('GET', '/contacts', { ...pageQuery, page: String(page) });
  return { newSeconds, sameSeconds, pagesSeconds: (performance.now() - startedAt) / 1000 };
}

const pageQuery = {
  per_page: String(pageSize),
  contact_type: 'customer',
  filter_by: 'Status.All',
  sort_column: 'created_time',
  sort_order: 'A',
};

async function measureCost(bench: Bench, count: number): Promise<TargetedFigure[]> {
  const books = await Books.connect(bench, 'recording', count);
  const costs = [];
  for (const counts of [
    { created: count, unchanged: 0 },
    { created: 0, unchanged: count },
  ]) {
    await recordedCalls(bench);
    await books.sync(counts);
    costs.push((await recordedCalls(bench)).filter(({ by }) => by === 'queue'));
  }
  const [fresh, same] = costs as [RecordedCall[], RecordedCall[]];
  const pages = Math.ceil(count / pageSize);
  const ofContacts = same.filter(({ statements: all }) =>
    all.some(({ sql }) => /(?:INTO|UPDATE) (?:contact|integration_contact)\b/.test(sql)),
  );
  return [
    figure('D1 statements a page, all new', statements(fresh).length / pages),
    figure('D1 statements a page, all as they were', statements(same).length / pages),
    figure('calls to D1 a page, all new', fresh.length / pages),
    figure('calls to D1 a page, all as they were', same.length / pages),
    figure('rows written a contact that is new', written(fresh) / count),
    figure('rows written a contact that is as it was', written(same) / count, { atMost: 0.05 }),
    figure('statements that write contacts or their links, all as they were', ofContacts.length, { atMost: 0 }),
  ];
}

const statements = (calls: RecordedCall[]) => calls.flatMap((call) => call.statements);
const written = (calls: RecordedCall[]) => calls.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);

const figure = (what: string, value: number, target?: TargetedFigure['target']): TargetedFigure => ({
  name: `A sync of books: ${what}`,
  unit: '',
  service: [value],
  ...(target && { target }),
});

async function measurePushes(bench: Bench): Promise<TargetedFigure[]> {
  const { pushes } = bench.pace;
  bench.progress(`${pushes} pushes of a contact`);
  const books = await Books.connect(bench, 'service', seeded);
  await books.sync({ created: seeded, unchanged: 0 });
  const { contacts } = await books.call<{ contacts: { id: number; phone: string }[] }>('GET', `/contacts?limit=${Math.min(pushes, 100)}`);
  const times = { service: [] as number[], floor: [] as number[] };
  for (let number = 0; number < pushes; number++) {
    const contact = contacts[number % contacts.length]!;
    await books.call('PUT', `/contacts/${contact.id}`, { company: `Company ${number}` });
    let externalId = '';
    times.service.push(await timeOf(async () => ({ external_id: externalId } = await books.push(contact.id))));
    const change = { company_name: `Company ${number} again` };
    times.floor.push(
      await timeOf(async () => {
        await books.ask('GET', `/contacts/${externalId}`);
        await books.ask('PUT', `/contacts/${externalId}`, {}, change);
      }),
    );
  }
  const floorDoes = 'makes the two requests that a push makes to the broker';
  const at = (rank: number) => ({ service: [percentile(times.service, rank)], floor: [percentile(times.floor, rank)] });
  return [
    { name: 'POST /integration/{id}/contacts/{contact_id}/push: p50', unit: 'ms', ...at(0.5), floorDoes },
    { name: 'POST /integration/{id}/contacts/{contact_id}/push: p95', unit: 'ms', ...at(0.95), floorDoes },
    { name: 'of it beyond the two requests: p50', unit: 'ms', service: [median(times.service) - median(times.floor)] },
  ];
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The connected and mapped accounting tool of an organization. */
export class Books {
  readonly #bench: Bench;
  readonly #caller: Caller;
  readonly #headers: Record<string, string>;
  readonly #outside: Client;
  id = 0;
  accountId = '';

  private constructor(bench: Bench, caller: Caller, headers: Record<string, string>) {
    this.#bench = bench;
    this.#caller = caller;
    this.#headers = headers;
    this.#outside = new Client(new URL(bench.rig.outside), 1);
  }

  /** For the service, signs up a new organization. The recording service has one organization only. */
  static async connect(bench: Bench, caller: Caller, count: number): Promise<Books> {
    const { origins, outside } = bench.rig;
    const ownKey = () => createDemoOrganization(`${origins.service.origin}/api/v1`, { hasSimulatedCarrier: false });
    const books = new Books(bench, caller, caller === 'service' ? { 'x-api-key': await ownKey() } : bench.headers);
    const { id } = await books.call<{ id: number }>('GET', '/organizations/current');
    const more = { customer: `org_${id}`, organization_id: booksOrganization, count: count - seeded };
    if (count > seeded) await books.#outside.call({ method: 'POST', path: '/zohobooks/__sim/contacts', body: JSON.stringify(more) });
    const { request_id, redirect_url } = await books.call<{ request_id: string; redirect_url: string }>('POST', '/integration/connect', {
      provider: 'books',
    });
    const { pathname } = new URL(redirect_url, outside);
    await books.#outside.call({ method: 'GET', path: `${pathname}?decision=approve` });
    const integration = await books.call<{ id: number }>('POST', '/integration/connect/finalize', {
      connected_account_id: request_id,
      provider: 'books',
    });
    books.id = integration.id;
    books.accountId = request_id;
    await books.call('POST', `/integration/${books.id}/books/organization`, { organization_id: booksOrganization });
    return books;
  }

  call<Body>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Body> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return this.#bench.clients[this.#caller].json<Body>({ method, path: `/api/v1${path}`, headers: this.#headers, ...sent });
  }

  push(contactId: number): Promise<{ external_id: string }> {
    return this.call('POST', `/integration/${this.id}/contacts/${contactId}/push`);
  }

  /** Sends a request to the broker as the service does. */
  ask(method: 'GET' | 'PUT', path: string, query: Record<string, string> = {}, body?: object): Promise<string> {
    const parameters = Object.entries({ organization_id: booksOrganization, ...query }).map(([name, value]) => ({
      name,
      value,
      type: 'query',
    }));
    const request = {
      connected_account_id: this.accountId,
      endpoint: `https://www.zohoapis.com/books/v3${path}`,
      method,
      parameters,
      body,
    };
    const headers = { 'x-api-key': brokerKey };
    return this.#outside.call({ method: 'POST', path: '/composio/api/v3.1/tools/execute/proxy', headers, body: JSON.stringify(request) });
  }

  /** Syncs all contacts; the first sync begins with the mapping. Returns after how many seconds the sync completed. */
  async sync(expected: { created: number; unchanged: number }): Promise<number> {
    if (expected.created > 0) await this.call('PUT', `/integration/${this.id}/field-mapping`, { field_mapping: mapping });
    else await this.call('POST', `/integration/${this.id}/resync`);
    const database = this.#bench.rig.databases[this.#caller];
    const last = () =>
      database
        .prepare('SELECT * FROM integration_sync WHERE integration_id = ? ORDER BY id DESC LIMIT 1')
        .bind(this.id)
        .first<{ status: string; reason: string; created: number; unchanged: number; started_at: number; finished_at: number }>();
    await waitUntil('the sync is over', 180_000, async () => (await last())?.status !== 'running');
    const sync = (await last())!;
    if (sync.status !== 'completed' || sync.created !== expected.created || sync.unchanged !== expected.unchanged)
      throw new Error(`The sync is ${JSON.stringify(sync)}, and was to be ${JSON.stringify(expected)}`);
    return (sync.finished_at - sync.started_at) / 1000;
  }
}
