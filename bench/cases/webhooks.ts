import { setTimeout as sleep } from 'node:timers/promises';
import { alternate, bothSides, connections, type Bench, type Result, type Side } from '../bench.ts';
import { settle, waitFor } from '../local/settle.ts';
import type { Exchange, Sample } from '../load.ts';
import { recipeOf } from '../recipe.ts';
import { acceptedCost, giveRecipe, onlyCall, record, type AcceptedCost } from '../record.ts';
import { percentile } from '../statistics.ts';
import { deliveryKey, postWebhook } from './exchanges.ts';

const steadyPerSecond = 20;

/** Signed webhook to completed run: as fast as they are accepted, and at a steady rate that leaves no queue. */
export async function measureWebhooks(bench: Bench): Promise<{ results: Result[]; costs: AcceptedCost[] }> {
  const cost = await giveWebhookRecipe(bench);
  const { webhooks, rounds, steadyWebhooks, steadyRounds } = bench.pace;
  bench.progress('Webhook to completed run, all at once');
  const flood = await alternate(rounds, bothSides, (side) => runWebhooks(bench, side, webhooks, 0));
  bench.progress(`Webhook to completed run, ${steadyPerSecond} a second`);
  const steady = await alternate(steadyRounds, bothSides, (side) => runWebhooks(bench, side, steadyWebhooks, 1000 / steadyPerSecond));
  const floorDoes = 'one insert, the queue, one insert of the run, its object writes 5 rows and then the row of the run';
  return {
    costs: [cost],
    results: [
      { name: `Webhook to completed run, ${webhooks} at once`, floorDoes, compares: 'rate', ...flood },
      { name: `Webhook to completed run, ${steadyPerSecond} a second`, floorDoes, compares: 'time', ...steady },
    ],
  };
}

let sent = 0;

/** Of the service's statements the floor keeps the ones that store the delivery, insert the run and end it. */
async function giveWebhookRecipe(bench: Bench): Promise<AcceptedCost> {
  await record(bench, postWebhook(bench, sent++));
  const number = sent++;
  const { calls, from, to } = await record(bench, postWebhook(bench, number));
  const newest = async (table: string) =>
    (await bench.rig.databases.recording.prepare(`SELECT max(id) AS id FROM ${table}`).first<{ id: number }>())!.id;
  const values = {
    delivery_key: deliveryKey(number),
    delivery_id: await newest('webhook_delivery'),
    run_id: await newest('automation_run'),
  };
  const part = (by: 'request' | 'queue' | 'object', beginning: string) => [recipeOf(onlyCall(calls, by, beginning), { values, from, to })];
  await giveRecipe(bench, 'webhook', {
    request: part('request', 'INSERT INTO webhook_delivery'),
    queue: part('queue', 'INSERT INTO automation_run'),
    object: part('object', 'UPDATE automation_run'),
  });
  return acceptedCost('Signed webhook', calls);
}

/** Sends so many webhooks, `intervalMs` apart or, at 0, over all connections; times are from sending to the completed run. */
async function runWebhooks(bench: Bench, side: Side, count: number, intervalMs: number): Promise<Sample> {
  const database = bench.rig.databases[side];
  const [base] = (await database.prepare('SELECT coalesce(max(run_id), 0) FROM bench_completion').raw<[number]>())[0]!;
  const sentAt = new Map<string, number>();
  const send = async ({ number, exchange }: { number: number; exchange: Exchange }) => {
    sentAt.set(deliveryKey(number), Date.now());
    await bench.clients[side].call(exchange);
  };
  const path = side === 'floor' ? '/webhooks/webhook' : bench.webhookPath;
  const webhooks = Array.from({ length: count }, () => {
    const number = sent++;
    return { number, exchange: postWebhook(bench, number, path) };
  });
  if (intervalMs) {
    const answers: Promise<void>[] = [];
    for (const one of webhooks) {
      answers.push(send(one));
      await sleep(intervalMs);
    }
    await Promise.all(answers);
  } else {
    const waiting = webhooks.values();
    const connection = async () => {
      for (const one of waiting) await send(one);
    };
    await Promise.all(Array.from({ length: connections }, connection));
  }
  await waitFor(database, count, 'SELECT count(*) FROM bench_completion WHERE run_id > ?', base);
  const { results } = await database
    .prepare(
      `SELECT d.delivery_id AS key, b.completed_at FROM bench_completion b CROSS JOIN automation_run r CROSS JOIN webhook_delivery d
       WHERE b.run_id > ? AND r.id = b.run_id AND d.id = r.source_id`,
    )
    .bind(base)
    .all<{ key: string; completed_at: number }>();
  const times = results.map(({ key, completed_at }) => completed_at - sentAt.get(key)!);
  const first = Math.min(...sentAt.values());
  const last = Math.max(...results.map(({ completed_at }) => completed_at));
  if (side === 'service') await settle(database);
  else await sleep(150);
  return { perSecond: (count / (last - first)) * 1000, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
