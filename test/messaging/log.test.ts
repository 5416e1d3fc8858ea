import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, rowsRead } from '../support/recorded-database.ts';
import { logOf, messagesPath } from './accounts.ts';

interface Row {
  recipient?: string;
  provider?: string;
  status?: string;
  run?: number;
  contact?: number;
  updatedAt?: number;
}

/** Writes messages as rows: nothing here is about sending them. */
async function fill(organizationId: number, rows: Row[]): Promise<void> {
  const statement = env.DB.prepare(
    `INSERT INTO message (organization_id, send_key, provider, kind, recipient, contact_id, status, status_rank, automation_run_id, history, created_at, updated_at)
     VALUES (?, ?, ?, 'text', ?, ?, ?, 2, ?, '[]', 0, ?)`,
  );
  await env.DB.batch(
    rows.map(({ recipient = newPhone(), provider = 'provider_a', status = 'sent', run, contact, updatedAt = Date.now() }) =>
      statement.bind(
        organizationId,
        run ? `step:${run}:${crypto.randomUUID()}:1:1` : crypto.randomUUID(),
        provider,
        recipient,
        contact ?? null,
        status,
        run ?? null,
        updatedAt,
      ),
    ),
  );
}

test('messages are listed newest first, page by page, with the true total', async () => {
  const { client, id } = await newOrganization();
  const numbers = Array.from({ length: 7 }, newPhone);
  await fill(
    id,
    numbers.map((recipient) => ({ recipient })),
  );
  const seen: string[] = [];
  let query = '?limit=3';
  for (let pages = 1; ; pages++) {
    const { body } = await client.get(`${messagesPath}${query}`);
    expect(body).toMatchObject({ total: 7, limit: 3, offset: 0 });
    seen.push(...body.messages.map(({ to }: any) => to));
    if (!body.next_cursor) break;
    expect(pages).toBeLessThan(4);
    query = `?limit=3&cursor=${body.next_cursor}`;
  }
  expect(seen).toEqual(numbers.toReversed());
  expect((await logOf(client, '?limit=2&offset=5')).map(({ to }) => to)).toEqual([numbers[1], numbers[0]]);
});

test('filters narrow the list, each by itself and together', async () => {
  const { client, id } = await newOrganization();
  const [one, other] = [newPhone(), newPhone()];
  const [run, contact] = [900_001, 900_002];
  await fill(id, [
    { recipient: one, provider: 'provider_a', status: 'delivered', run },
    { recipient: one, provider: 'provider_b', status: 'failed', contact },
    { recipient: other, provider: 'provider_b', status: 'delivered', run, contact },
  ]);
  const idsOf = async (query: string) => {
    const { body } = await client.get(`${messagesPath}?${query}`);
    expect(body.total).toBe(body.messages.length);
    return body.messages.map(({ id: message }: any) => message);
  };
  const [third, second, first] = (await logOf(client)).map((message) => message.id);
  expect(await idsOf(`to=${encodeURIComponent(one)}`)).toEqual([second, first]);
  expect(await idsOf(`to=${one}`)).toEqual([second, first]);
  expect(await idsOf(`to=(${one.slice(2, 5)})${one.slice(5)}`)).toEqual([second, first]);
  expect(await idsOf('provider=provider_b')).toEqual([third, second]);
  expect(await idsOf('status=delivered')).toEqual([third, first]);
  expect(await idsOf(`automation_run_id=${run}`)).toEqual([third, first]);
  expect(await idsOf(`contact_id=${contact}`)).toEqual([third, second]);
  expect(await idsOf(`contact_id=${contact}&status=delivered&provider=provider_b&automation_run_id=${run}&to=${other}`)).toEqual([third]);
  expect(await idsOf('provider=provider_c')).toEqual([]);
});

test('what was being sent for longer than a request lasts is unknown, in the record and for the filter', async () => {
  const { client, id } = await newOrganization();
  await fill(id, [{ status: 'sending' }, { status: 'sending', updatedAt: Date.now() - 61_000 }, { status: 'unknown' }]);
  expect((await logOf(client)).map(({ status }) => status)).toEqual(['unknown', 'unknown', 'sending']);
  expect(await logOf(client, '?status=unknown')).toHaveLength(2);
  expect(await logOf(client, '?status=sending')).toHaveLength(1);
});

test('a filter that cannot be meant is a 422', async () => {
  const { client } = await newOrganization();
  for (const query of ['to=abc', 'provider=provider_z', 'contact_id=x', 'automation_run_id=-1', 'limit=0', 'cursor=nonsense'])
    expect(await client.get(`${messagesPath}?${query}`), query).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', query.split('=')[0]] }] },
    });
});

test("another organization's messages are not there, also by its contact or run", async () => {
  const { id } = await newOrganization();
  const contact = 910_000 + id;
  await fill(id, [{ contact, run: contact }]);
  const { client } = await newOrganization();
  for (const query of ['', `?contact_id=${contact}`, `?automation_run_id=${contact}`]) expect(await logOf(client, query)).toEqual([]);
});

test('a page costs as much in a log of many messages as in one of few, by whichever filter', async () => {
  const { id, key } = await newOrganization();
  const recipient = newPhone();
  const many = (count: number, row: Row = {}) => Promise.all(Array.from({ length: count / 50 }, () => fill(id, Array<Row>(50).fill(row))));
  await many(500);
  await fill(id, [{ recipient, provider: 'provider_d', status: 'failed', run: 920_000 + id, contact: 920_000 + id }]);
  for (const query of [
    `to=${recipient}`,
    'provider=provider_d',
    'status=failed',
    `automation_run_id=${920_000 + id}`,
    `contact_id=${920_000 + id}`,
  ]) {
    const { client, recording } = recordedClient(key);
    expect((await client.get(`${messagesPath}?${query}`)).body.total, query).toBe(1);
    expect(rowsRead(recording), query).toBeLessThan(30);
    const plans = (await explainQueryPlans(recording)).filter(({ sql }) => sql.includes('FROM message'));
    // The few messages of a run are sorted.
    const inVain = query.startsWith('automation_run_id') ? /SCAN message/ : /SCAN message(?! USING)|TEMP B-TREE/;
    for (const { plan } of plans) expect(plan.join('\n'), query).not.toMatch(inVain);
  }
});
