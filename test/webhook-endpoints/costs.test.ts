import { afterEach, expect, test, vi } from 'vitest';
import { ownRows } from '../support/own-rows.ts';
import { recordedDatabase, rowsRead, rowsWritten, type Recording } from '../support/recorded-database.ts';
import { holdObjects, newEndpoint, newSender, recordEvent, type Endpoint } from './endpoints.ts';

afterEach(() => vi.restoreAllMocks());

/** A sender whose statements are counted from the second delivery on. */
async function countedSender(endpoint: Endpoint) {
  const recording: Recording = { statements: [], calls: 0 };
  const sender = await newSender(endpoint, recordedDatabase(ownRows, recording));
  return { ...sender, recording };
}

const written = async (work: () => Promise<unknown>): Promise<number> => ((await work()) as D1Result).meta.rows_written;

test('an event is 3 rows when it is recorded for an endpoint, the row with its two indexes, and 3 when it is delivered', async () => {
  holdObjects();
  const endpoint = await newEndpoint();
  const record = (number: number) => () => recordEvent(endpoint.organizationId, `s${number}`, number);
  // The first of a burst has the endpoint woken, too: its row and its index.
  expect(await written(record(0))).toBeLessThanOrEqual(5);
  const events = 20;
  for (let number = 1; number < events; number++) expect(await written(record(number))).toBe(3);
  const { deliver, recording } = await countedSender(endpoint);
  await deliver();
  expect(endpoint.receiver.received).toHaveLength(events);
  // Of the endpoint: the moment of its next work, in its row and its index.
  expect(rowsWritten(recording)).toBeLessThanOrEqual(3 * events + 3);
  expect(recording.calls).toBeLessThanOrEqual(10);
});

test('sending reads as much with ten thousand deliveries behind it, and with a thousand that wait for their retry', async () => {
  const readOf = async (old: number, waiting: number) => {
    holdObjects();
    const endpoint = await newEndpoint();
    const { organizationId, id } = endpoint;
    const fill = (count: number, first: number, status: string, dueAt: number | null) =>
      ownRows
        .prepare(
          `INSERT INTO webhook_message (organization_id, endpoint_id, sequence, event_id, type, subject, data, status, due_at, created_at)
           SELECT ?1, ?2, ?3 + value, 'evt_' || value, 'suppression.added', ?4 || value, '{"phone":"+1"}', ?4, ?5, 0 FROM json_each(?6)`,
        )
        .bind(organizationId, id, first, status, dueAt, JSON.stringify(Array.from({ length: count }, (_, index) => index)))
        .run();
    const now = Date.now();
    await fill(old, now - 20_000_000, 'delivered', null);
    await fill(waiting, now - 5_000_000, 'pending', now + 86_400_000);
    for (const number of [0, 1, 2]) await recordEvent(organizationId, `s${number}`, number);
    const { deliver, recording } = await countedSender(endpoint);
    await deliver();
    expect(endpoint.receiver.received).toHaveLength(3);
    return { read: rowsRead(recording), calls: recording.calls };
  };
  const few = await readOf(10, 10);
  expect(await readOf(10_000, 1000)).toEqual(few);
});
