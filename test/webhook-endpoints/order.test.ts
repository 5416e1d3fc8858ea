import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { tickAt } from '../support/background.ts';
import { faultyDatabase, type DatabaseFault } from '../support/faulty-database.ts';
import { ownRows } from '../support/own-rows.ts';
import { holdObjects, messagesOf, newEndpoint, newReceiver, newSender, path, recordEvent, type Received } from './endpoints.ts';

afterEach(() => vi.restoreAllMocks());

const numberOf = ({ event }: Received): number => event.data['suppression_id'];
const hasWrite = (sql: string) => /UPDATE webhook_message AS m SET status/.test(sql);

test('a message that fails holds the later ones of its record, and no others', async () => {
  holdObjects();
  const endpoint = await newEndpoint();
  for (const [number, subject] of ['a', 'a', 'b', 'a'].entries()) await recordEvent(endpoint.organizationId, subject, number);
  let isBroken = true;
  endpoint.receiver.answer = (request) => new Response(null, { status: isBroken && numberOf(request) === 0 ? 500 : 200 });
  const { deliver, time } = await newSender(endpoint);
  const next = await deliver();
  expect(endpoint.receiver.received.map(numberOf).toSorted()).toEqual([0, 2]);
  expect(next).toBeGreaterThan(time.now + 4000);
  await recordEvent(endpoint.organizationId, 'a', 4);
  time.now += 2000;
  await deliver();
  expect(endpoint.receiver.received).toHaveLength(2);
  isBroken = false;
  time.now = next!;
  await deliver();
  expect(endpoint.receiver.received.slice(2).map(numberOf)).toEqual([0, 1, 3, 4]);
});

test('a message that waits is not passed by a later one that is due in the same page', async () => {
  holdObjects();
  const endpoint = await newEndpoint();
  for (const number of [0, 1]) await recordEvent(endpoint.organizationId, 'a', number);
  const failures = new Map([[0, 1]]);
  endpoint.receiver.answer = (request) => {
    const left = failures.get(numberOf(request)) ?? 0;
    failures.set(numberOf(request), left - 1);
    return new Response(null, { status: left > 0 ? 500 : 200 });
  };
  const { deliver, time } = await newSender(endpoint);
  time.now = (await deliver())!;
  await recordEvent(endpoint.organizationId, 'a', 2);
  await deliver();
  expect(endpoint.receiver.received.map(numberOf)).toEqual([0, 0, 1, 2]);
});

test('a message that is given up lets the later ones of its record go on', async () => {
  holdObjects();
  const endpoint = await newEndpoint();
  for (const number of [0, 1]) await recordEvent(endpoint.organizationId, 'a', number);
  endpoint.receiver.answer = (request) => new Response(null, { status: numberOf(request) === 0 ? 500 : 200 });
  const { deliver, time } = await newSender(endpoint);
  for (let tries = 0; tries < 10; tries++) time.now = (await deliver())!;
  expect(endpoint.receiver.received.map(numberOf)).toEqual([...Array.from({ length: 10 }, () => 0), 1]);
});

test('a message whose earlier one was deleted with age goes on', async () => {
  holdObjects();
  const endpoint = await newEndpoint();
  for (const number of [0, 1]) await recordEvent(endpoint.organizationId, 'a', number);
  const { deliver, time } = await newSender(endpoint);
  endpoint.receiver.answer = () => new Response(null, { status: 500 });
  await deliver();
  const old = 31 * 86_400_000;
  await ownRows
    .prepare(
      'UPDATE webhook_message SET sequence = sequence - ? WHERE organization_id = ? AND sequence = (SELECT min(sequence) FROM webhook_message WHERE organization_id = ?)',
    )
    .bind(old, endpoint.organizationId, endpoint.organizationId)
    .run();
  endpoint.receiver.answer = () => new Response(null);
  await deliver();
  time.now += 1;
  await deliver();
  expect(endpoint.receiver.received.map(numberOf)).toEqual([0, 1]);
});

test('many events in one transaction have an order of their own', async () => {
  holdObjects();
  const endpoint = await newEndpoint();
  await ownRows
    .prepare(
      `INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at)
       SELECT ?1, 'suppression.added', 'a', json_object('suppression_id', value, 'phone', '+1'), 'evt_' || value, 1700000000000 FROM json_each(?2)`,
    )
    .bind(endpoint.organizationId, JSON.stringify(Array.from({ length: 200 }, (_, index) => index)))
    .run();
  const { deliver } = await newSender(endpoint);
  // These are older than what is kept, and are sent before they are deleted.
  await deliver();
  expect(endpoint.receiver.received.map(numberOf)).toEqual(Array.from({ length: 200 }, (_, index) => index));
});

describe('whatever fails', () => {
  const faults: DatabaseFault[] = ['refused', 'lost'];

  test('nothing is lost, and no event is sent before the earlier ones of its record are taken', async () => {
    const plans = fc.record({
      subjects: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 14 }),
      answers: fc.infiniteStream(fc.constantFrom(200, 200, 200, 500, 0)),
      writes: fc.infiniteStream(fc.constantFrom<DatabaseFault>(null, null, ...faults)),
      // Whether the object dies after a failed write, with what it has in memory.
      deaths: fc.infiniteStream(fc.boolean()),
      arrivals: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(plans, async ({ subjects, answers, writes, deaths, arrivals }) => {
        holdObjects();
        const endpoint = await newEndpoint(null, newReceiver());
        const failures = new Map<number, number>();
        const answered: { number: number; isTaken: boolean }[] = [];
        endpoint.receiver.answer = (request) => {
          const number = numberOf(request);
          const failed = failures.get(number) ?? 0;
          const status = failed < 6 ? answers.next().value : 200;
          answered.push({ number, isTaken: status === 200 });
          if (status === 200) return new Response(null);
          failures.set(number, failed + 1);
          if (status === 0) throw new TypeError('connection reset');
          return new Response(null, { status });
        };
        let troubles = 12;
        const database = faultyDatabase(ownRows, (sql) => (hasWrite(sql) && troubles-- > 0 ? writes.next().value : null));
        let sender = await newSender(endpoint, database);
        const waiting = subjects.map((subject, number) => ({ subject: `s${subject}`, number }));
        for (let rounds = 0; rounds < 200; rounds++) {
          for (const { subject, number } of waiting.splice(0, arrivals)) await recordEvent(endpoint.organizationId, subject, number);
          const now = Math.max(sender.time.now, Date.now() + 1000);
          sender.time.now = now;
          const next = await sender.deliver().catch(async () => {
            if (deaths.next().value) sender = await newSender(endpoint, database);
            sender.time.now = now;
            return now;
          });
          const open = (await messagesOf(endpoint.organizationId)).filter(({ status }) => status === 'pending');
          if (open.length === 0 && waiting.length === 0) break;
          // Never to the end of retention.
          sender.time.now = Math.min(next ?? now, now + 86_400_000);
        }
        const rows = await messagesOf(endpoint.organizationId);
        expect(rows.map(({ status }) => status)).toEqual(subjects.map(() => 'delivered'));
        for (const subject of new Set(subjects)) {
          const own = subjects.flatMap((one, number) => (one === subject ? [number] : []));
          for (const [index, number] of own.entries()) {
            const firstSent = answered.findIndex((one) => one.number === number);
            const before = own.slice(0, index).map((earlier) => answered.findIndex((one) => one.number === earlier && one.isTaken));
            expect(before.every((taken) => taken >= 0 && taken < firstSent)).toBe(true);
          }
        }
        vi.restoreAllMocks();
      }),
      { numRuns: 20 },
    );
  }, 120_000);

  test('a crash between the sending and the writing sends once more, under the same id', async () => {
    holdObjects();
    const endpoint = await newEndpoint();
    await recordEvent(endpoint.organizationId, 'a', 0);
    let isBroken = true;
    const database = faultyDatabase(ownRows, (sql) => (hasWrite(sql) && isBroken ? 'refused' : null));
    const dying = await newSender(endpoint, database);
    await expect(dying.deliver()).rejects.toThrow();
    isBroken = false;
    await (await newSender(endpoint, database)).deliver();
    const ids = endpoint.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(await messagesOf(endpoint.organizationId)).toMatchObject([{ status: 'delivered', tries: 1 }]);
  });

  test('an object that lives on after a failed write records the result, and sends nothing twice', async () => {
    holdObjects();
    const endpoint = await newEndpoint();
    await recordEvent(endpoint.organizationId, 'a', 0);
    let isBroken = true;
    const sender = await newSender(
      endpoint,
      faultyDatabase(ownRows, (sql) => (hasWrite(sql) && isBroken ? 'refused' : null)),
    );
    await expect(sender.deliver()).rejects.toThrow();
    await expect(sender.deliver()).rejects.toThrow();
    isBroken = false;
    await sender.deliver();
    expect(endpoint.receiver.received).toHaveLength(1);
    expect(await messagesOf(endpoint.organizationId)).toMatchObject([{ status: 'delivered', tries: 1 }]);
  });

  test('a write whose answer is lost counts once', async () => {
    holdObjects();
    const endpoint = await newEndpoint();
    await recordEvent(endpoint.organizationId, 'a', 0);
    let isLost = true;
    const database = faultyDatabase(ownRows, (sql) => (hasWrite(sql) && isLost ? ((isLost = false), 'lost') : null));
    endpoint.receiver.answer = () => new Response(null, { status: 500 });
    await (await newSender(endpoint, database)).deliver();
    const [row] = await messagesOf(endpoint.organizationId);
    expect(row).toMatchObject({ status: 'pending', tries: 1 });
    expect(JSON.parse(row.attempts)).toHaveLength(1);
  });

  test('a wake that is lost is made up for by the next tick', async () => {
    const lost = vi.spyOn(env.WEBHOOK_ENDPOINT, 'getByName').mockImplementation(() => {
      throw new Error('the isolate died');
    });
    const endpoint = await newEndpoint();
    await recordEvent(endpoint.organizationId, 'a', 0);
    lost.mockRestore();
    expect((await endpoint.client.get(`${path}/${endpoint.id}/deliveries`)).body.deliveries).toMatchObject([{ status: 'pending' }]);
    await tickAt(Date.now() + 1000);
    await vi.waitFor(() => expect(endpoint.receiver.received).toHaveLength(1), { timeout: 10_000, interval: 20 });
  });
});
