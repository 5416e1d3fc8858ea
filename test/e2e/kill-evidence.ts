import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { KillableService } from './killable-service.ts';

/** Rows of the local database, read beside the service or while it is dead. */
export const rowsOf = (stateDirectory: string, sql: string): Record<string, any>[] => rowsOfFile(databaseDirectory(stateDirectory), sql);

/** Changes the local database beside the service, as an accident would. */
export function changeRows(stateDirectory: string, sql: string): void {
  const database = new DatabaseSync(fileIn(databaseDirectory(stateDirectory)), { timeout: 10_000 });
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

const databaseDirectory = (stateDirectory: string): string => join(stateDirectory, 'v3/d1/miniflare-D1DatabaseObject');

function fileIn(directory: string): string {
  const file = readdirSync(directory).find((name) => name.endsWith('.sqlite') && name !== 'metadata.sqlite');
  if (file === undefined) throw new Error(`there is no database in ${directory}`);
  return join(directory, file);
}

function rowsOfFile(directory: string, sql: string): Record<string, any>[] {
  const database = new DatabaseSync(fileIn(directory), { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

export const situations = [
  'queued',
  'running',
  'on time',
  'on an event',
  'on another run',
  'on a call',
  'on a retry',
  'held',
  'ended',
] as const;
export type Situation = (typeof situations)[number];

/** The number of runs in each situation when a kill came, read from the dead service. */
export function runsBySituation(stateDirectory: string): Map<Situation, number> {
  const rows = rowsOf(stateDirectory, 'SELECT state, hold, current_node_id FROM automation_run');
  return new Map([...Map.groupBy(rows, situationOf)].map(([situation, runs]) => [situation, runs.length]));
}

/** The number of call attempts in each state when a kill came, read from the call slots of the dead service's only organization. */
export function attemptsByState(stateDirectory: string): Map<string, number> {
  const directory = join(stateDirectory, 'v3/do/voice-agent-automation-service-CallSlotsObject');
  const rows = rowsOfFile(directory, "SELECT 1 FROM sqlite_master WHERE name = 'attempt'").length
    ? rowsOfFile(
        directory,
        `SELECT CASE WHEN state = 'placed' THEN coalesce(status, 'placed') ELSE state END AS name, count(*) AS attempts
         FROM attempt WHERE state NOT IN ('ended', 'returned') GROUP BY 1 ORDER BY 1`,
      )
    : [];
  return new Map(rows.map(({ name, attempts }) => [name, attempts]));
}

const waitsAt: Record<string, Situation> = {
  rest: 'on time',
  sit: 'on time',
  roll: 'on time',
  paid: 'on an event',
  open: 'on an event',
  pack: 'on another run',
  ring: 'on a call',
  knock: 'on a retry',
};

function situationOf({ state, hold, current_node_id: nodeId }: Record<string, any>): Situation {
  if (hold === 'max_active') return 'queued';
  if (hold === 'paused') return 'held';
  if (state === 'waiting') return waitsAt[nodeId] ?? 'running';
  return ['queued', 'pending', 'running'].includes(state) ? 'running' : 'ended';
}

export interface Received {
  /** The id of the node that asked, which is the first part of the path. */
  node: string;
  /** The number that the request is about, which is the second. */
  number: number;
  key: string;
  at: number;
}

/** What a customer's server received, oldest first. */
export async function listReceivedRequests(service: KillableService): Promise<Received[]> {
  const { body } = await service.call({ method: 'GET', path: `${service.simulators}/__sim/requests?provider=receiver` });
  return body.requests.map((request: any): Received => {
    const [, node = '', number] = request.path.split('/');
    if (request.body.number !== Number(number)) throw new Error(`the body sent to ${request.path} is ${request.raw_body}`);
    return { node, number: Number(number), key: request.headers['idempotency-key'], at: Date.parse(request.received_at) };
  });
}
