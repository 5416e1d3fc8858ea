import { expect, test } from 'vitest';
import { noUsage } from '../../bench/usage.ts';
import { ActiveTimes } from '../../bench/workers/active-times.ts';
import { replay } from '../../bench/workers/replay.ts';
import { countCalls, countStorage, countUses } from '../../bench/workers/recording-object.ts';

/** A cursor that reads a row when it is made and two more when its rows are taken. */
function cursor() {
  const rows = { rowsRead: 1, rowsWritten: 1 };
  const take = <Answer>(answer: Answer) => {
    Object.assign(rows, { rowsRead: 3, rowsWritten: 2 });
    return answer;
  };
  return Object.assign(rows, { toArray: () => take([{ id: 1 }]), one: () => take({ id: 1 }) });
}

function countedStorage() {
  const usage = noUsage();
  const asked: unknown[][] = [];
  const storage = {
    sql: { exec: (...given: unknown[]) => (asked.push(given), cursor()) },
    setAlarm: async (time: number) => void asked.push([time]),
  } as unknown as DurableObjectStorage;
  countStorage(storage, usage);
  return { usage, asked, storage };
}

test('rows that a statement reads and writes are counted once, those that its cursor still has to go through included', () => {
  const { usage, asked, storage } = countedStorage();
  storage.sql.exec('INSERT INTO run VALUES (?)', 7);
  expect(usage).toMatchObject({ objectRowsRead: 1, objectRowsWritten: 1 });
  expect(storage.sql.exec('SELECT 1').toArray()).toEqual([{ id: 1 }]);
  expect(storage.sql.exec('SELECT 1').one()).toEqual({ id: 1 });
  expect(usage).toMatchObject({ objectRowsRead: 7, objectRowsWritten: 5 });
  expect(asked[0]).toEqual(['INSERT INTO run VALUES (?)', 7]);
});

test('setting an alarm is counted and sets it', async () => {
  const { usage, asked, storage } = countedStorage();
  await storage.setAlarm(42);
  expect([usage.alarmsSet, asked]).toEqual([1, [[42]]]);
});

test("calls of an object's methods reach the object that was named and are counted, those that throw, too", async () => {
  const usage = noUsage();
  const stubOf = (name: string) => ({
    start: async (id: number) => `${name} started ${id}`,
    stop: async () => {
      throw new Error('gone');
    },
  });
  const namespace = countCalls(
    { getByName: stubOf } as unknown as DurableObjectNamespace<Rpc.DurableObjectBranded>,
    'RUN',
    usage,
    new ActiveTimes(() => 0),
  ) as unknown as {
    getByName: typeof stubOf;
  };
  expect(await namespace.getByName('1/2').start(2)).toBe('1/2 started 2');
  await expect(namespace.getByName('1/2').stop()).rejects.toThrow('gone');
  expect(usage.objectCalls).toBe(2);
});

test('of a binding only the named method is counted, and all of them go through', () => {
  let puts = 0;
  const bucket = {
    kept: new Map<string, string>(),
    put: (key: string, value: string) => bucket.kept.set(key, value),
    get: (key: string) => bucket.kept.get(key),
  };
  const counted = countUses(bucket, { put: () => void puts++ });
  counted.put('a', '1');
  expect([counted.get('a'), puts]).toEqual(['1', 1]);
});

test('a call of the floor can use what one before it found', async () => {
  const bound: unknown[][] = [];
  const statement = {
    bind: (...parameters: unknown[]) => (bound.push(parameters), statement),
    all: async () => ({ results: [{ id: 17 }], meta: { rows_read: 1, rows_written: 0 } }),
  };
  const database = { prepare: () => statement } as unknown as D1Database;
  const values = { phone: '+12125550199' };
  const find = { isBatch: false, statements: [{ sql: 'SELECT id', parameters: [{ value: 'phone' }] }], learns: { contact_id: 'id' } };
  const insert = { isBatch: false, statements: [{ sql: 'INSERT', parameters: [{ value: 'contact_id' }] }] };
  await replay(database, [find, insert], values);
  expect(bound).toEqual([['+12125550199'], [17]]);
});
