import { setTimeout as sleep } from 'node:timers/promises';
import { measureAlternately, bothSides, connections, type Bench, type Result, type Side } from '../bench.ts';
import { waitUntilIdle, waitFor } from '../local/wait-until-idle.ts';
import type { HttpExchange, Sample } from '../load.ts';
import { toRecipe, type CallRecipe, type RecordedCall } from '../recipe.ts';
import { onlyCall, record, type Recording } from '../record.ts';
import { percentile } from '../statistics.ts';
import { deliveryKey, toOrder, toSenderPhone, postWebhook } from './exchanges.ts';

const steadyPerSecond = 20;

/** How many webhooks were sent so far: no two have the same number. */
let sent = 0;

/** The webhook path of a journey on each side. */
export type Paths = Record<Side, string>;

/** Webhook to completed run: as fast as they are accepted, and at a steady rate that leaves no queue. */
export async function measureWebhookRuns(bench: Bench, name: string, paths: Paths, floorDoes: string): Promise<Result[]> {
  const { webhooks, rounds, steadyWebhooks, steadyRounds } = bench.pace;
  bench.progress(`${name}, all at once`);
  const flood = await measureAlternately(rounds, bothSides, (side) => runWebhooks(bench, side, paths[side], webhooks, 0));
  bench.progress(`${name}, ${steadyPerSecond} a second`);
  const steady = await measureAlternately(steadyRounds, bothSides, (side) =>
    runWebhooks(bench, side, paths[side], steadyWebhooks, 1000 / steadyPerSecond),
  );
  return [
    { name: `${name}, ${webhooks} at once`, floorDoes, compares: 'rate', ...flood },
    { name: `${name}, ${steadyPerSecond} a second`, floorDoes, compares: 'time', ...steady },
  ];
}

/** Sends so many webhooks, `intervalMs` apart or, at 0, over all connections; times are from sending to the completed run. */
export async function runWebhooks(bench: Bench, side: Side, path: string, count: number, intervalMs: number): Promise<Sample> {
  const database = bench.rig.databases[side];
  const [base] = (await database.prepare('SELECT coalesce(max(run_id), 0) FROM bench_completion').raw<[number]>())[0]!;
  const sentAt = new Map<string, number>();
  const send = async ({ number, exchange }: { number: number; exchange: HttpExchange }) => {
    sentAt.set(deliveryKey(number), Date.now());
    await bench.clients[side].call(exchange);
  };
  const webhooks = Array.from({ length: count }, () => {
    const number = sent++;
    return { number, exchange: postWebhook(number, path) };
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
  if (side === 'service') await waitUntilIdle(database);
  else await sleep(150);
  return { perSecond: (count / (last - first)) * 1000, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

export interface RecordedWebhook {
  recording: Recording<unknown>;
  /** The recipe of the one call by that origin that has a statement with this beginning. */
  part(by: RecordedCall['by'], beginning: string): CallRecipe;
  /** The calls that `part` has returned. */
  parts: RecordedCall[];
}

/** Records one webhook of a contact. A webhook before it fills the caches and registers the contact's new field. */
export async function recordWebhook(bench: Bench, path: string): Promise<RecordedWebhook> {
  await record(bench, postWebhook(sent++, path));
  const number = sent++;
  const database = bench.rig.databases.recording;
  // A revision that no other number can be taken for.
  const revision = 5_100_000_000;
  await database.prepare('UPDATE contact SET revision = ? WHERE phone = ?').bind(revision, toSenderPhone(number)).run();
  const recording = await record<unknown>(bench, postWebhook(number, path));
  const newest = async (table: string) => (await database.prepare(`SELECT max(id) AS id FROM ${table}`).first<{ id: number }>())!.id;
  const contact = await database
    .prepare('SELECT id FROM contact WHERE phone = ? AND organization_id > 0')
    .bind(toSenderPhone(number))
    .first<{ id: number }>();
  const values = {
    delivery_key: deliveryKey(number),
    delivery_id: await newest('webhook_delivery'),
    run_id: await newest('automation_run'),
    contact_id: contact!.id,
    phone: toSenderPhone(number),
    order_id: toOrder(number),
    revision,
  };
  const { calls, from, to } = recording;
  const parts: RecordedCall[] = [];
  const part = (by: RecordedCall['by'], beginning: string) => {
    const call = onlyCall(calls, by, beginning);
    parts.push(call);
    return toRecipe(call, { values, from, to });
  };
  return { recording, part, parts };
}
