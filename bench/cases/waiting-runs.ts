import type { Bench } from '../bench.ts';
import { insertRows } from '../local/copy-rows.ts';
import { farAway, waitFor } from '../local/wait-until-idle.ts';
import type { Database } from '../local/start.ts';
import { fireTrigger, toSenderPhone } from './exchanges.ts';
import { toExternalId } from './people.ts';

type Row = Record<string, string | number | null>;

/** A run's row and its waiter, as they are while it sleeps until an event comes. */
export interface WaitingRun {
  run: Row;
  waiter: Row;
}

/** Reads the only waiting run of this database. */
export async function readWaitingRun(database: Database): Promise<WaitingRun> {
  const run = (await database.prepare("SELECT * FROM automation_run WHERE state = 'waiting'").first<Row>())!;
  return { run, waiter: (await database.prepare('SELECT * FROM run_waiter').first<Row>())! };
}

/** Starts a run for each of these people; answers once all of them wait. */
export async function startWaitingRuns(bench: Bench, database: Database, people: number[], client = bench.clients.service): Promise<void> {
  const contacts = await toContacts(database, people);
  const perRequest = 100;
  for (let at = 0; at < people.length; at += perRequest) {
    const ids = people.slice(at, at + perRequest).map((person) => contacts.get(person)!);
    await client.call(fireTrigger(bench, bench.waitingPath, ids));
  }
  await waitFor(database, people.length, `SELECT count(*) FROM automation_run WHERE state = 'waiting' AND wake_at < ${farAway}`);
}

/** Contact ids by person number. */
async function toContacts(database: Database, people: number[]): Promise<Map<number, number>> {
  const { results } = await database
    .prepare(
      'SELECT j.value AS id, c.id AS contact_id FROM json_each(?) j CROSS JOIN contact c WHERE c.organization_id = 1 AND c.phone = j.key',
    )
    .bind(JSON.stringify(Object.fromEntries(people.map((person) => [toSenderPhone(person), person]))))
    .all<{ id: number; contact_id: number }>();
  return new Map(results.map(({ id, contact_id }) => [id, contact_id]));
}

let floorRuns = 0;

/** Puts a run of each of these people to sleep in the floor, as rows like those that the service writes. */
export async function insertWaitingRuns({ clients, rig }: Bench, { run, waiter }: WaitingRun, people: number[]): Promise<void> {
  const database = rig.databases.floor;
  const contacts = await toContacts(database, people);
  // Above all ids that the database assigns.
  const ids = people.map(() => 10_000_000_000 + ++floorRuns);
  const runs = ids.map((id, index) => ({ ...run, id, contact_id: contacts.get(people[index]!)!, dedup_key: `waiting:${id}` }));
  await insertRows(database, 'automation_run', runs);
  const waiters = ids.map((id, index) => ({ ...waiter, run_id: id, value: toExternalId(people[index]!) }));
  await insertRows(database, 'run_waiter', waiters);
  await clients.floor.call({ method: 'POST', path: '/sleepers', body: JSON.stringify(ids) });
}
