import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { RunDocument } from '../../durable-objects/automation-run/run-document.ts';
import { chain, createActiveWorkflow, runStub, waitForRunState } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { storedRows, storedRun } from '../support/stored-run.ts';

/** The tables of a run's object as the versions before the record made them. */
const earlierTables = [
  'CREATE TABLE schema_step (number INTEGER PRIMARY KEY)',
  'INSERT INTO schema_step (number) VALUES (2)',
  'CREATE TABLE timer (kind TEXT NOT NULL, subject TEXT NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL, PRIMARY KEY (kind, subject)) WITHOUT ROWID',
  'CREATE TABLE projection (revision INTEGER NOT NULL, projected INTEGER NOT NULL)',
  'CREATE TABLE run (id INTEGER PRIMARY KEY, organization_id INTEGER NOT NULL, progress TEXT NOT NULL)',
  `CREATE TABLE history (
     id INTEGER PRIMARY KEY, node_id TEXT NOT NULL, visit INTEGER NOT NULL, attempt INTEGER NOT NULL, status TEXT NOT NULL, entry TEXT NOT NULL
   )`,
];

/** Stores a run as the versions before the record did. */
function storeAsBefore({ sql }: DurableObjectStorage, run: RunDocument): void {
  sql.exec('DROP TABLE run_record');
  for (const statement of earlierTables) sql.exec(statement);
  sql.exec('INSERT INTO run (id, organization_id, progress) VALUES (?, ?, ?)', run.id, run.organizationId, JSON.stringify(run.progress));
  sql.exec('INSERT INTO projection (revision, projected) VALUES (?, ?)', run.revision, run.projected);
  for (const timer of run.timers)
    sql.exec('INSERT INTO timer (kind, subject, due, attempts) VALUES (?, ?, ?, ?)', timer.kind, timer.subject, timer.due, timer.attempts);
  for (const { id, ...entry } of run.entries)
    sql.exec(
      'INSERT INTO history (id, node_id, visit, attempt, status, entry) VALUES (?, ?, ?, ?, ?, ?)',
      id,
      entry.nodeId,
      entry.visit,
      entry.attempt,
      entry.status,
      JSON.stringify(entry),
    );
}

const napThenNote = chain(
  { id: 'before', type: 'set_context', data: { assign: { seen: 'before' } } },
  { id: 'nap', type: 'wait', data: { duration: 'P1D' } },
  { id: 'after', type: 'set_context', data: { assign: { seen: 'after' } } },
);

async function sleepingRun() {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: napThenNote });
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  await waitForRunState(client, body.id, 'waiting');
  return { client, run: body.id as number, stub: runStub(id, body.id) };
}

test('a run that an earlier version keeps in tables goes on, with its history, its timers and its alarm', async () => {
  const { client, run, stub } = await sleepingRun();
  const before = await runInDurableObject(stub, async (_object, { storage }) => {
    const stored = storedRun(storage)!;
    storeAsBefore(storage, stored);
    return { stored, alarm: await storage.getAlarm() };
  });
  await evictDurableObject(stub);
  const { body: history } = await client.get(`/automation-workflows/runs/${run}/history`);
  expect(history.history.map((entry: { node_id: string; status: string }) => [entry.node_id, entry.status])).toEqual([
    ['in', 'completed'],
    ['before', 'completed'],
    ['nap', 'waiting'],
  ]);
  await runInDurableObject(stub, async (_object, { storage }) => {
    expect(storedRun(storage)).toEqual({ ...before.stored, entries: [], movedEntries: 3 });
    expect(await storage.getAlarm()).toBe(before.alarm);
    const tables = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray();
    expect(tables.map(({ name }) => name).toSorted()).toEqual(['history', 'run_record']);
  });
  await runInDurableObject(stub, (object) => {
    (object as unknown as { clock: () => number }).clock = () => Date.now() + 86_400_000;
  });
  await runDurableObjectAlarm(stub);
  const ended = await waitForRunState(client, run, 'completed');
  expect(ended.context.seen).toBe('after');
  const { body: whole } = await client.get(`/automation-workflows/runs/${run}/history`);
  expect(whole.history.map((entry: { id: number; node_id: string }) => `${entry.id} ${entry.node_id}`)).toEqual([
    '1 in',
    '2 before',
    '3 nap',
    '4 after',
    '5 out',
  ]);
});

test('a run in its first advance, as an earlier version stored it, is ended by its alarm', async () => {
  const { client, run, stub } = await sleepingRun();
  await env.DB.prepare("UPDATE automation_run SET revision = 0, state = 'running' WHERE id = ?").bind(run).run();
  await runInDurableObject(stub, async (_object, { storage }) => {
    const { id, organizationId, progress, entries } = storedRun(storage)!;
    const stepping = { ...progress, state: 'running', wait: null, nodeId: 'after', visits: { ...progress.visits, after: 1 } };
    const nap = entries.map((entry) => (entry.nodeId === 'nap' ? { ...entry, status: 'completed' } : entry));
    storage.sql.exec('DROP TABLE run_record');
    storage.sql.exec('CREATE TABLE first_advance (run TEXT NOT NULL)');
    storage.sql.exec(
      'INSERT INTO first_advance (run) VALUES (?)',
      JSON.stringify({ id, organizationId, progress: stepping, entries: nap }),
    );
    await storage.setAlarm(Date.now() + 50);
  });
  await evictDurableObject(stub);
  await runDurableObjectAlarm(stub);
  const ended = await waitForRunState(client, run, 'completed');
  expect(ended.context.seen).toBe('after');
  await expect.poll(() => runInDurableObject(stub, (_object, { storage }) => storedRows(storage)), { timeout: 10_000 }).toEqual([]);
  const { body: whole } = await client.get(`/automation-workflows/runs/${run}/history`);
  expect(whole.history.map((entry: { node_id: string }) => entry.node_id)).toEqual(['in', 'before', 'nap', 'after', 'out']);
});
