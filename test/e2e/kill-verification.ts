import { expect } from 'vitest';
import { readLedger } from './call-ledger.ts';
import { verifyCallStatistics, verifyJourneyStatistics, verifyUsageStatistics, type RunPath } from './full-count.ts';
import { listReceivedRequests, rowsOf, type Received } from './kill-evidence.ts';
import type { JourneyName } from './kill-journeys.ts';
import { expectedRuns, phoneOf, sizeOf, rangeTo, type KillTraffic } from './kill-traffic.ts';
import type { KillableService } from './killable-service.ts';

export const journeyNames = Object.keys(expectedRuns) as JourneyName[];

const numerically = (one: number, other: number): number => one - other;

/** The context variable that identifies what a run is about. */
const numberOf: Record<JourneyName, string> = {
  order: 'order',
  pack: 'order',
  ship: 'order',
  parcel: 'parcel',
  visit: 'visit',
  gate: 'gate',
  slow: 'slow',
};

/** Every run that there must be is there once and has completed, and every count says so. Answers the runs. */
export async function verifyRuns(service: KillableService, traffic: KillTraffic): Promise<any[]> {
  const all: any[] = [];
  for (const name of journeyNames) {
    const record = await traffic.read(`/automation-workflows/${traffic.workflows[name]}`);
    expect(record, name).toMatchObject({ runs_count: expectedRuns[name], active_runs_count: 0 });
    const runs = await traffic.runsOf(name);
    const numbers = runs.map((run) => run.initial_context[numberOf[name]]).toSorted(numerically);
    expect(numbers, name).toEqual(rangeTo(expectedRuns[name]));
    for (const run of runs) expect(run, name).toMatchObject({ state: 'completed', error: null, hold: null });
    all.push(...runs);
  }
  const { pack } = traffic.workflows;
  for (const filter of ['', '?state=completed']) expect((await traffic.read(`/automation-workflows/runs${filter}`)).total).toBe(all.length);
  const packed = all.filter((run) => run.automation_workflow_id === pack).map(({ id }) => id);
  const orders = all.filter((run) => run.automation_workflow_id === traffic.workflows.order);
  await verifyCalls(service, orders);
  await verifyMessages(service, traffic, orders);
  for (const { outcome, context, initial_context: given } of orders) {
    expect(outcome).toBe(sizeOf(given.order));
    expect(context).toMatchObject({ thanks: expect.any(String), steps: { paid: { event: { data: { order: given.order } } } } });
    expect(context.steps.pack).toMatchObject({ state: 'completed', outcome: 'packed' });
  }
  expect(orders.map(({ context }) => context.steps.pack.run_id).toSorted(numerically)).toEqual(packed.toSorted(numerically));
  return all;
}

/** Every order had somebody called, once; the call that its run waited for is the one that the carrier shows. A kill may keep one from being placed. */
async function verifyCalls(service: KillableService, orders: any[]): Promise<void> {
  const { calls, attempts_dialled_twice: twice } = await readLedger(service);
  expect(twice).toEqual([]);
  const dialled = new Map(calls.map((call) => [call.attempt_key, call.to]));
  expect(dialled.size).toBe(calls.length);
  let placed = 0;
  for (const { id, context, initial_context: given, voice_call_run_id: callRunId } of orders) {
    expect(context.steps.ring).toMatchObject({ call_run_id: callRunId, outcome: expect.any(String) });
    const isPlaced = !/^carrier_trouble: ./.test(context.steps.ring.reason ?? '');
    const phone = isPlaced ? `+1303555${given.order + 2000}` : undefined;
    expect(dialled.get(`journey:${id}:ring:1:1`), JSON.stringify(context.steps.ring)).toBe(phone);
    placed += Number(isPlaced);
  }
  expect(dialled.size).toBe(placed);
}

/**
 * Every order sent one message that its run knows, and the provider accepted each attempt once. An order has more messages only where a message may
 * or may not have been sent, and a person retried the run.
 */
async function verifyMessages(service: KillableService, traffic: KillTraffic, orders: any[]): Promise<void> {
  const { body } = await service.call({ method: 'GET', path: `${service.simulators}/meta/__sim/messages` });
  const taken: any[] = body.messages;
  expect(new Set(taken.map(({ reference }) => reference)).size).toBe(taken.length);
  const log = Map.groupBy(
    (await traffic.read('/organizations/messages?limit=500')).messages as any[],
    (message) => message.automation_run_id,
  );
  expect(log.size).toBe(orders.length);
  for (const { id, context, initial_context: given } of orders) {
    const messages = log.get(id) ?? [];
    const ofOrder = taken.filter(({ to }) => to === `+1404555${given.order + 2000}`);
    const sent = messages.filter(({ message_id: messageId }) => messageId !== null);
    const evidence = JSON.stringify([messages, ofOrder]);
    expect(sent, evidence).toHaveLength(1);
    expect(sent[0], evidence).toMatchObject({ status: 'accepted', message_id: context.steps.note.message_id });
    expect(
      ofOrder.map((message) => message.id),
      evidence,
    ).toContain(sent[0].message_id);
    expect(ofOrder.length, evidence).toBeLessThanOrEqual(messages.length);
    for (const message of messages) if (message !== sent[0]) expect(message.status, evidence).toBe('unknown');
  }
}

/** Each visit has an end and one result, and the receiver's log has what it asked, under the key of its attempt. */
export async function verifySteps(service: KillableService, traffic: KillTraffic, runs: any[]) {
  const requests = Map.groupBy(await listReceivedRequests(service), ({ key }) => key.slice(0, key.lastIndexOf(':')));
  const nodeTypes = new Set<string>();
  const counts = { asked: 0, repeated: 0, triedAgain: 0, paths: [] as RunPath[] };
  const verify = async (run: any) => {
    const { history, total } = await traffic.read(`/automation-workflows/runs/${run.id}/history?limit=500`);
    expect(history).toHaveLength(total);
    counts.paths.push({ run, nodeIds: new Set(history.map((record: any) => record.node_id)) });
    for (const record of history) {
      nodeTypes.add(record.node_type);
      expect(record.completed_at, JSON.stringify(record)).not.toBeNull();
      expect(['completed', 'failed', 'retrying']).toContain(record.status);
      if (record.status === 'failed') expect(record.error.type).toBe('unknown');
      if (record.status === 'retrying') counts.triedAgain += 1;
    }
    // A hold has a record of its own beside that of the step that was held.
    const steps: any[] = history.filter((record: any) => !String(record.output?.why).startsWith('held'));
    const completed = steps.filter(({ status }) => status === 'completed').map(({ node_id, visit }) => `${node_id}:${visit}`);
    expect(completed.toSorted()).toEqual([...new Set(steps.map(({ node_id, visit }) => `${node_id}:${visit}`))].toSorted());
    const asking = steps.filter(({ node_type }) => node_type === 'http_request');
    for (const [key, attempts] of Map.groupBy(asking, ({ node_id, visit }) => `${run.id}:${node_id}:${visit}`)) {
      const seen = requests.get(key) ?? [];
      verifyRequests(key, attempts, seen);
      requests.delete(key);
      const keys = new Set(seen.map((request) => request.key)).size;
      counts.asked += keys;
      counts.repeated += seen.length - keys;
    }
  };
  const waiting = [...runs];
  const work = async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) await verify(run);
  };
  await Promise.all(rangeTo(8).map(work));
  expect([...requests.keys()], 'requests that no history shows').toEqual([]);
  const { node_types } = await traffic.read('/automation-workflows/node-types');
  expect([...nodeTypes].toSorted(), 'types of nodes on the way').toEqual(node_types.map(({ type }: any) => type).toSorted());
  return counts;
}

/** The request of an attempt that is `unknown`, or whose connection broke, may or may not have arrived. */
function verifyRequests(visit: string, attempts: any[], seen: Received[]): void {
  const keys = [...new Set(seen.map(({ key }) => key))];
  const arrived = attempts.filter(({ status, error }) => status === 'completed' || error.type === 'http_status');
  expect(keys, visit).toEqual(expect.arrayContaining(arrived.map(({ attempt }) => `${visit}:${attempt}`)));
  expect(attempts.map(({ attempt }) => `${visit}:${attempt}`)).toEqual(expect.arrayContaining(keys));
  expect(new Set(seen.map(({ node, number }) => `${node}/${number}`)).size, visit).toBe(1);
  if (attempts[0].input.after_crash === 'unknown') expect(seen.length, `${visit} may not be repeated`).toBe(keys.length);
}

/** Statistics equal a full count of the records. Answers the number of calls. */
export async function verifyStatistics(service: KillableService, traffic: KillTraffic, paths: RunPath[]): Promise<number> {
  const read = (path: string) => traffic.read(path);
  for (const workflowId of Object.values(traffic.workflows))
    await verifyJourneyStatistics(
      read,
      workflowId,
      paths.filter(({ run }) => run.automation_workflow_id === workflowId),
    );
  await verifyUsageStatistics(service, read);
  return verifyCallStatistics(service, read);
}

/** The writes of steps outside of their runs exist once, and no work is left. */
export async function verifyTraces(service: KillableService, traffic: KillTraffic): Promise<void> {
  const { events } = await traffic.read('/events?event_type=order_settled&limit=500');
  expect(events.map(({ event_data }: any) => event_data.order).toSorted(numerically)).toEqual(rangeTo(expectedRuns.order));
  const { contacts } = await traffic.read('/contacts?limit=500');
  expect(contacts.map(({ phone }: any) => phone).toSorted()).toEqual(rangeTo(expectedRuns.order).map(phoneOf).toSorted());
  for (const { phone, custom_fields, tags } of contacts) {
    expect(phoneOf(custom_fields.order)).toBe(phone);
    expect(tags.filter((tag: string) => tag === 'buyer')).toHaveLength(1);
  }
  const { lists } = await traffic.read('/contacts/lists');
  const members = new Map<string, number>();
  for (const { id, name } of lists) members.set(name, (await traffic.read(`/contacts/lists/${id}/contacts`)).total);
  expect(Object.fromEntries(members)).toEqual({ Buyers: expectedRuns.order, Prospects: 0 });
  const left = `SELECT (SELECT count(*) FROM run_waiter) AS waiters, (SELECT count(*) FROM cleanup) AS cleanups,
    (SELECT count(*) FROM event WHERE handled_at IS NULL) AS events, (SELECT count(*) FROM webhook_delivery WHERE handled_at IS NULL) AS deliveries,
    (SELECT count(*) FROM automation_run WHERE wake_at IS NOT NULL OR hold IS NOT NULL) AS runs, (SELECT count(*) FROM event) AS events_ever`;
  const none = { waiters: 0, cleanups: 0, events: 0, deliveries: 0, runs: 0 };
  expect(rowsOf(service.stateDirectory, left)).toEqual([{ ...none, events_ever: traffic.acceptedEvents.size + expectedRuns.order }]);
}
